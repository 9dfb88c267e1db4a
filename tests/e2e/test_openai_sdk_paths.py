"""The real OpenAI SDK, its newest release and one of 2.x, on Responses, embeddings and legacy completions."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, Events, Json, Status, ToolCall, plain, responses, stream_of
from tests.e2e.scene import played
from tests.e2e.sdk import CLIENTS, saw
from tests.integration.callers import RESPONSES

GROUPS = {"chat": {"strategy": "failover", "same_model": True, "targets": [{"model": "a/m"}, {"model": "b/m"}]}}
MADE = ToolCall("get_weather", '{"city": "Oslo"}')

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("client", CLIENTS)]


def call(client: str, name: str, tmp_path: Path, *, a: Sequence[Answer], model: str = "chat") -> dict[str, Any]:
    """What the SDK saw of one call, and under `asked` the bodies that reached the providers a and b."""
    return played(tmp_path, partial(saw, client, model=model, name=name), a=a, groups=GROUPS)


# --- Responses


def test_a_response_arrives_and_tells_who_served(client: str, tmp_path: Path) -> None:
    counted = Usage(input_tokens=100, output_tokens=3, cached_tokens=80)

    seen = call(client, "response", tmp_path, a=[Chat("hello there", usage=counted)])

    assert (seen["text"], seen["status"], seen["target"]) == ("hello there", "completed", "a/m")
    assert (seen["tokens"], seen["cached"]) == (3, 80)
    assert seen["request_id"] == seen["header_id"]
    assert seen["asked"] == [{"input": "hi", "model": "m", "store": False}]


def test_a_stream_arrives_whole_in_its_order(client: str, tmp_path: Path) -> None:
    seen = call(client, "streamed_response", tmp_path, a=[Chat("one two three")])

    assert (seen["text"], seen["first"], seen["last"]) == ("one two three", "response.created", "response.completed")
    assert seen["numbers"] == list(range(len(seen["numbers"])))
    assert seen["tokens"] == 3


def test_the_helper_that_builds_the_answer_from_the_events_is_content(client: str, tmp_path: Path) -> None:
    seen = call(client, "helped_stream", tmp_path, a=[Chat("one two three")])

    assert (seen["text"], seen["last"]) == ("one two three", "response.completed")


def test_a_tool_call_comes_back_as_the_model_made_it(client: str, tmp_path: Path) -> None:
    seen = call(client, "tool_of_response", tmp_path, a=[Chat("", tool_calls=(MADE,), reasoning="hm")])

    assert seen["calls"] == [["get_weather", {"city": "Oslo"}]]


def test_a_streamed_tool_call_comes_back_as_the_model_made_it(client: str, tmp_path: Path) -> None:
    seen = call(client, "streamed_tool", tmp_path, a=[Chat("", tool_calls=(MADE,))])

    assert (seen["names"], seen["arguments"]) == (["get_weather"], {"city": "Oslo"})
    assert seen["last"] == "response.completed"


def test_the_result_of_a_tool_goes_back_to_the_model(client: str, tmp_path: Path) -> None:
    seen = call(client, "tool_round", tmp_path, a=[Chat("", tool_calls=(MADE,)), Chat("It rains.")])

    assert (seen["text"], seen["status"]) == ("It rains.", "completed")
    assert [item.get("type") for item in seen["asked"][1]["input"]] == [None, "function_call", "function_call_output"]


def test_structured_output_is_untouched_in_both_directions(client: str, tmp_path: Path) -> None:
    seen = call(client, "structured_response", tmp_path, a=[Chat('{"name": "Oslo", "people": 717710}')])

    assert (seen["name"], seen["people"]) == ("Oslo", 717710)
    assert seen["asked"][0]["text"]["format"]["type"] == "json_schema"


@pytest.mark.bug("D-03")
def test_a_stored_response_is_read_built_on_and_deleted_where_it_is_kept(client: str, tmp_path: Path) -> None:
    stored = responses.response([responses.message_item("hi")])
    asked = {"object": "list", "data": [{"type": "message", "role": "user", "content": []}], "has_more": False}
    deleted = {"id": stored["id"], "object": "response", "deleted": True}
    said = [Json(200, payload) for payload in (stored, stored, asked, stored, deleted)]

    seen = call(client, "stored_response", tmp_path, a=said)

    assert (seen["same"], seen["items"], seen["gone"]) == (True, 1, "NotFoundError")


FAILING = {
    "429": Status(429, retry_after=30),
    "500": Status(500),
    "cut before content": stream_of(then="cut", dialect=RESPONSES),
    "failed before content": Events((*responses.created(), responses.failed("server_error", "down")), then="end"),
}


@pytest.mark.bug("A-09", "D-07", "E-06")
@pytest.mark.parametrize("answer", FAILING.values(), ids=FAILING)
def test_a_failover_is_invisible_to_the_caller(client: str, tmp_path: Path, answer: Answer) -> None:
    seen = call(client, "streamed_response", tmp_path, a=[answer])

    assert (seen["text"], seen["last"], len(seen["asked"])) == ("served by b", "response.completed", 2)


@pytest.mark.bug("E-04")
def test_a_stream_that_dies_ends_with_its_failure_and_is_never_retried(client: str, tmp_path: Path) -> None:
    beginning = [*responses.created(), *responses.text_begin(), responses.text_delta("one ")]
    said = tuple(responses.numbered(beginning))

    seen = call(client, "streamed_response", tmp_path, a=[Events(said, then="cut")])

    assert (seen["text"], seen["last"], seen["error"]["code"]) == ("one ", "response.failed", "upstream_error")
    assert seen["numbers"] == list(range(len(beginning) + 1))
    assert seen["id"] == beginning[0]["response"]["id"]
    assert len(seen["asked"]) == 1


def test_a_refusal_of_the_request_is_in_the_providers_words(client: str, tmp_path: Path) -> None:
    refused = Status(400, {"message": "too long", "code": "context_length_exceeded"})

    seen = call(client, "failed_response", tmp_path, a=[refused])

    assert (seen["kind"], seen["status"], seen["code"]) == ("BadRequestError", 400, "context_length_exceeded")


@pytest.mark.parametrize("name", ["failed_response", "failed_embeddings", "failed_completion"])
def test_an_unknown_model_is_a_not_found_error_with_the_nearest_name(client: str, tmp_path: Path, name: str) -> None:
    seen = call(client, name, tmp_path, a=(), model="chta")

    assert (seen["kind"], seen["status"], seen["code"]) == ("NotFoundError", 404, "model_not_found")
    assert "Did you mean 'chat'?" in seen["message"]


# --- embeddings


def test_vectors_arrive_exactly_though_the_sdk_asks_for_base64(client: str, tmp_path: Path) -> None:
    seen = call(client, "embeddings", tmp_path, a=[Chat(usage=Usage(input_tokens=2))])

    assert (seen["vectors"], seen["tokens"], seen["target"]) == ([list(plain.VECTOR)] * 2, 2, "a/m")
    assert seen["asked"][0]["encoding_format"] == "base64"


def test_vectors_may_be_asked_for_as_numbers(client: str, tmp_path: Path) -> None:
    seen = call(client, "embeddings_as_numbers", tmp_path, a=())

    assert seen["vectors"] == [list(plain.VECTOR)]


@pytest.mark.parametrize("answer", [Status(500), Json(200, {"object": "list", "data": []})], ids=["500", "empty"])
def test_vectors_come_from_the_next_target_of_the_same_model(client: str, tmp_path: Path, answer: Answer) -> None:
    seen = call(client, "embeddings", tmp_path, a=[answer])

    assert (seen["target"], len(seen["vectors"]), len(seen["asked"])) == ("b/m", 2, 2)


# --- legacy completions


def test_a_completion_arrives(client: str, tmp_path: Path) -> None:
    seen = call(client, "completion", tmp_path, a=[Chat("hello there")])

    assert (seen["text"], seen["finish"], seen["tokens"]) == ("hello there", "stop", 2)


def test_a_streamed_completion_arrives_without_an_event_that_was_not_asked_for(client: str, tmp_path: Path) -> None:
    seen = call(client, "streamed_completion", tmp_path, a=[Chat("one two three")])

    assert (seen["text"], seen["finishes"]) == ("one two three", ["stop"])


@pytest.mark.bug("E-04")
def test_a_completion_that_dies_raises(client: str, tmp_path: Path) -> None:
    dies = stream_of("one", "two", then="cut", dialect=Dialect.OPENAI_COMPLETIONS)

    seen = call(client, "failed_completion", tmp_path, a=[dies])

    assert (seen["kind"], seen["code"], len(seen["asked"])) == ("APIError", "upstream_error", 1)
