"""What a real engine, llama.cpp's own server, says in Anthropic's dialect, and what of it reaches a caller."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing.wire import Reply, messages_request
from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import Gateway, serve
from tests.e2e.sdk import ANTHROPIC, told
from tests.integration.callers import ask
from tests.integration.harness import eventually, group

EVERY_CLIENT = pytest.mark.parametrize("client", ANTHROPIC)
NEWEST = "2"
# ids, and what the cache did: both differ from answer to answer
MEASURED = re.compile(rb'"(id|cache_read_input_tokens|input_tokens)":("[^"]*"|\d+)')
SAY_WHO = {"messages": [{"role": "user", "content": "Who are you?"}]}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, alpha: Engine, beta: Engine) -> Iterator[Gateway]:
    """For all tests that only ask: alpha answers, and beta stands by."""
    with serve(tmp_path_factory.mktemp("gateway"), alpha, beta, groups={"chat": group(alpha, beta)}) as running:
        yield running


@EVERY_CLIENT
def test_an_answer_is_what_the_engine_said(gateway: Gateway, client: str) -> None:
    seen = told(client, gateway.base_url, "chat", "unary")

    assert (seen["text"], seen["stop"], seen["target"]) == (" This is alpha.", "end_turn", "alpha/m-alpha")
    assert seen["output"] == 5


@EVERY_CLIENT
def test_a_stream_is_what_the_engine_said(gateway: Gateway, client: str) -> None:
    seen = told(client, gateway.base_url, "chat", "stream")

    assert (seen["text"], seen["stop"], seen["output"]) == (" This is alpha.", "end_turn", 5)


@EVERY_CLIENT
@pytest.mark.parametrize("name", ["tools", "streamed_tools"])
def test_a_tool_is_called_as_the_model_wants(gateway: Gateway, client: str, name: str) -> None:
    seen = told(client, gateway.base_url, "chat", name)

    assert (seen["calls"], seen["stop"]) == ([["get_weather", {"city": "Oslo"}]], "tool_use")


@EVERY_CLIENT
def test_the_result_of_a_tool_reaches_the_model(gateway: Gateway, client: str) -> None:
    seen = told(client, gateway.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["stop"]) == ("It rains, says alpha.", "end_turn")


def test_tokens_are_counted_by_the_engine(gateway: Gateway) -> None:
    counted = told(NEWEST, gateway.base_url, "chat", "count")["tokens"]
    used = told(NEWEST, gateway.base_url, "chat", "tools")

    assert counted == used["input"] + used["cached"]


@pytest.mark.bug("B-08")
def test_a_prompt_that_is_too_long_is_an_error_in_the_words_that_agents_know(gateway: Gateway) -> None:
    seen = told(NEWEST, gateway.base_url, "chat", "too_long")

    error = seen["body"]["error"]
    assert (seen["kind"], seen["status"], error["type"]) == ("BadRequestError", 400, "invalid_request_error")
    assert error["details"] == {"error_code": "context_length_exceeded"}
    assert re.match(r"prompt is too long: request \(\d+ tokens\) exceeds the available context", error["message"])


@pytest.mark.bug("H-02")
def test_cached_tokens_reach_the_caller_and_the_record(tmp_path: Any, alpha: Engine, beta: Engine) -> None:
    with serve(tmp_path, alpha, beta, groups={"chat": group(alpha, beta)}) as gateway:
        first, second = told(NEWEST, gateway.base_url, "chat", "same_prefix_twice")["answers"]
        records = gateway.records()

    assert second["cached"] > 0.9 * (second["cached"] + second["input"])
    usages = [record["usage"] for record in records]
    assert [usage["cached_tokens"] for usage in usages] == [first["cached"], second["cached"]]
    assert [usage["input_tokens"] for usage in usages] == [first["cached"] + first["input"]] * 2


@pytest.mark.case("I36")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
def test_an_answer_keeps_every_byte_of_the_engine(alpha: Engine, gateway: Gateway, stream: bool) -> None:
    direct, through = both(alpha, gateway, stream=stream)

    assert MEASURED.sub(rb'"\1":0', through.body) == MEASURED.sub(rb'"\1":0', direct.body)
    assert b" alpha" in through.body


def both(alpha: Engine, gateway: Gateway, **fields: Any) -> tuple[Reply, Reply]:
    """The same request to the engine itself and through the gateway."""
    direct, through = messages_request("m-alpha", **SAY_WHO, **fields), messages_request("chat", **SAY_WHO, **fields)
    return asyncio.run(ask(alpha.base_url, direct)), asyncio.run(ask(gateway.base_url, through))


@pytest.mark.bug("F-01")
def test_a_caller_that_leaves_frees_the_engine(gateway: Gateway, alpha: Engine) -> None:
    seen = told(NEWEST, gateway.base_url, "chat", "leave")

    assert "alpha!" in seen["text"]
    asyncio.run(eventually(lambda: alpha.busy_slots == 0))
