"""The real SDKs over a real engine that may be asked in the other dialect only."""

from collections.abc import Iterator

import pytest

from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import Gateway, serve
from tests.e2e.sdk import ANTHROPIC, CLIENTS, NEWEST, said, saw, told
from tests.integration.harness import group

EVERY_OPENAI = pytest.mark.parametrize("client", CLIENTS)
EVERY_ANTHROPIC = pytest.mark.parametrize("client", ANTHROPIC)
OSLO = {"city": "Oslo"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def messages_only(tmp_path_factory: pytest.TempPathFactory, alpha: Engine) -> Iterator[Gateway]:
    fields = {"dialects": ["anthropic_messages"]}
    with serve(tmp_path_factory.mktemp("messages"), alpha, groups={"chat": group(alpha)}, fields=fields) as running:
        yield running


@pytest.fixture(scope="module")
def chat_only(tmp_path_factory: pytest.TempPathFactory, alpha: Engine) -> Iterator[Gateway]:
    fields = {"dialects": ["openai_chat"]}
    with serve(tmp_path_factory.mktemp("chat"), alpha, groups={"chat": group(alpha)}, fields=fields) as running:
        yield running


@pytest.fixture(scope="module")
def responses_only(tmp_path_factory: pytest.TempPathFactory, alpha: Engine) -> Iterator[Gateway]:
    fields = {"dialects": ["openai_responses"]}
    with serve(tmp_path_factory.mktemp("responses"), alpha, groups={"chat": group(alpha)}, fields=fields) as running:
        yield running


@pytest.fixture(scope="module", params=["chat_only", "messages_only"])
def no_responses(request: pytest.FixtureRequest) -> Gateway:
    running: Gateway = request.getfixturevalue(request.param)
    return running


# --- OpenAI's SDK, and a target of Messages


@EVERY_OPENAI
def test_openais_client_gets_an_answer_of_messages(messages_only: Gateway, client: str) -> None:
    seen = said(client, messages_only.base_url, "chat", "unary")

    assert (seen["text"], seen["finish"], seen["target"]) == (" This is alpha.", "stop", "alpha/m-alpha")
    assert (seen["tokens"], seen["request_id"]) == (5, seen["header_id"])


@EVERY_OPENAI
def test_openais_client_gets_a_stream_of_messages(messages_only: Gateway, client: str) -> None:
    seen = said(client, messages_only.base_url, "chat", "stream")
    counted = said(client, messages_only.base_url, "chat", "stream_with_usage")

    assert (seen["text"], seen["finishes"]) == (" This is alpha.", ["stop"])
    assert (counted["choices_of_last"], counted["tokens"]) == (0, 5)


@EVERY_OPENAI
@pytest.mark.parametrize("name", ["tools", "forced_tool_in_a_stream"])
def test_openais_client_gets_a_call_of_messages(messages_only: Gateway, client: str, name: str) -> None:
    seen = said(client, messages_only.base_url, "chat", name)

    assert (seen["name"], seen["arguments"], seen["finish"]) == ("get_weather", OSLO, "tool_calls")


@EVERY_OPENAI
def test_what_a_tool_of_openais_client_gave_back_reaches_the_model(messages_only: Gateway, client: str) -> None:
    seen = said(client, messages_only.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["finish"]) == ("It rains, says alpha.", "stop")


def test_openais_client_sees_what_the_engine_had_cached(messages_only: Gateway) -> None:
    seen = said(NEWEST, messages_only.base_url, "chat", "same_prefix_twice")

    assert seen["prompt"][0] == seen["prompt"][1]
    assert seen["cached"][1] > 0.9 * seen["prompt"][1]


@pytest.mark.bug("B-08")
def test_openais_client_is_told_that_a_prompt_is_too_long(messages_only: Gateway) -> None:
    seen = said(NEWEST, messages_only.base_url, "chat", "too_long")

    assert (seen["kind"], seen["status"], seen["code"]) == ("BadRequestError", 400, "context_length_exceeded")


# --- Anthropic's SDK, and a target of Chat


@EVERY_ANTHROPIC
def test_anthropics_client_gets_an_answer_of_chat(chat_only: Gateway, client: str) -> None:
    seen = told(client, chat_only.base_url, "chat", "unary")

    assert (seen["text"], seen["stop"], seen["target"]) == (" This is alpha.", "end_turn", "alpha/m-alpha")
    assert (seen["output"], seen["request_id"]) == (5, seen["header_id"])


@EVERY_ANTHROPIC
def test_anthropics_client_gets_a_stream_of_chat(chat_only: Gateway, client: str) -> None:
    seen = told(client, chat_only.base_url, "chat", "stream")

    assert (seen["text"], seen["pieces"], seen["stop"]) == (" This is alpha.", " This is alpha.", "end_turn")
    assert seen["output"] == 5


@EVERY_ANTHROPIC
@pytest.mark.parametrize("name", ["tools", "streamed_tools"])
def test_anthropics_client_gets_a_call_of_chat(chat_only: Gateway, client: str, name: str) -> None:
    seen = told(client, chat_only.base_url, "chat", name)

    assert (seen["calls"], seen["stop"]) == ([["get_weather", OSLO]], "tool_use")


@EVERY_ANTHROPIC
def test_what_a_tool_of_anthropics_client_gave_back_reaches_the_model(chat_only: Gateway, client: str) -> None:
    seen = told(client, chat_only.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["stop"]) == ("It rains, says alpha.", "end_turn")


def test_anthropics_client_sees_what_the_engine_had_cached(chat_only: Gateway) -> None:
    first, second = told("2", chat_only.base_url, "chat", "same_prefix_twice")["answers"]

    assert first["cached"] + first["input"] == second["cached"] + second["input"]
    assert second["cached"] > 0.9 * (second["cached"] + second["input"])


def test_anthropics_client_gets_an_estimate_of_tokens(chat_only: Gateway) -> None:
    assert told("2", chat_only.base_url, "chat", "count")["tokens"] > 0


@pytest.mark.bug("B-08")
def test_anthropics_client_is_told_that_a_prompt_is_too_long(chat_only: Gateway) -> None:
    seen = told("2", chat_only.base_url, "chat", "too_long")

    assert (seen["kind"], seen["status"]) == ("BadRequestError", 400)
    assert seen["body"]["error"]["message"].startswith("prompt is too long: ")


# --- Responses of OpenAI's SDK, and a target of Chat or of Messages


@EVERY_OPENAI
def test_a_response_comes_from_a_target_without_responses(no_responses: Gateway, client: str) -> None:
    seen = saw(client, no_responses.base_url, "chat", "response")

    assert (seen["text"], seen["status"], seen["target"]) == (" This is alpha.", "completed", "alpha/m-alpha")
    assert (seen["tokens"], seen["request_id"]) == (5, seen["header_id"])


@EVERY_OPENAI
def test_a_streamed_response_comes_from_a_target_without_responses(no_responses: Gateway, client: str) -> None:
    seen = saw(client, no_responses.base_url, "chat", "streamed_response")

    assert (seen["text"], seen["first"], seen["last"]) == (" This is alpha.", "response.created", "response.completed")
    assert (seen["numbers"], seen["tokens"]) == (list(range(len(seen["numbers"]))), 5)


@EVERY_OPENAI
def test_the_helper_that_builds_a_response_is_content_with_events_of_a_bridge(
    no_responses: Gateway, client: str
) -> None:
    seen = saw(client, no_responses.base_url, "chat", "helped_stream")

    assert (seen["text"], seen["last"]) == (" This is alpha.", "response.completed")


@EVERY_OPENAI
def test_a_response_calls_a_tool_of_a_target_without_responses(no_responses: Gateway, client: str) -> None:
    whole = saw(client, no_responses.base_url, "chat", "tool_of_response")
    streamed = saw(client, no_responses.base_url, "chat", "streamed_tool")

    assert whole["calls"] == [["get_weather", OSLO]]
    assert (streamed["names"], streamed["arguments"]) == (["get_weather"], OSLO)
    assert streamed["last"] == "response.completed"


@EVERY_OPENAI
def test_what_a_tool_gave_back_goes_on_in_a_response_of_a_bridge(no_responses: Gateway, client: str) -> None:
    seen = saw(client, no_responses.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["status"]) == ("It rains, says alpha.", "completed")


@pytest.mark.bug("B-08")
def test_a_response_is_told_that_a_prompt_is_too_long(no_responses: Gateway) -> None:
    seen = saw(NEWEST, no_responses.base_url, "chat", "too_long_response")

    assert (seen["kind"], seen["status"]) == ("BadRequestError", 400)


# --- both SDKs, and a target of Responses


@EVERY_OPENAI
def test_openais_client_of_chat_gets_what_responses_says(responses_only: Gateway, client: str) -> None:
    whole = said(client, responses_only.base_url, "chat", "unary")
    streamed = said(client, responses_only.base_url, "chat", "stream")

    assert (whole["text"], whole["finish"], whole["tokens"]) == (" This is alpha.", "stop", 5)
    assert (streamed["text"], streamed["finishes"]) == (" This is alpha.", ["stop"])


@EVERY_OPENAI
@pytest.mark.parametrize("name", ["tools", "forced_tool_in_a_stream"])
def test_openais_client_of_chat_gets_a_call_of_responses(responses_only: Gateway, client: str, name: str) -> None:
    seen = said(client, responses_only.base_url, "chat", name)

    assert (seen["name"], seen["arguments"], seen["finish"]) == ("get_weather", OSLO, "tool_calls")


@EVERY_ANTHROPIC
def test_anthropics_client_gets_what_responses_says(responses_only: Gateway, client: str) -> None:
    whole = told(client, responses_only.base_url, "chat", "unary")
    streamed = told(client, responses_only.base_url, "chat", "stream")

    assert (whole["text"], whole["stop"], whole["output"]) == (" This is alpha.", "end_turn", 5)
    assert (streamed["pieces"], streamed["stop"]) == (" This is alpha.", "end_turn")


@EVERY_ANTHROPIC
@pytest.mark.parametrize("name", ["tools", "streamed_tools"])
def test_anthropics_client_gets_a_call_of_responses(responses_only: Gateway, client: str, name: str) -> None:
    seen = told(client, responses_only.base_url, "chat", name)

    assert (seen["calls"], seen["stop"]) == ([["get_weather", OSLO]], "tool_use")


def test_what_tools_gave_back_reaches_a_model_of_responses(responses_only: Gateway) -> None:
    by_openai = said(NEWEST, responses_only.base_url, "chat", "tool_round")
    by_anthropic = told("2", responses_only.base_url, "chat", "tool_round")

    assert (by_openai["text"].strip(), by_openai["finish"]) == ("It rains, says alpha.", "stop")
    assert (by_anthropic["text"].strip(), by_anthropic["stop"]) == ("It rains, says alpha.", "end_turn")
