"""What a real engine, llama.cpp's own server, says, and what of it reaches a caller."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing.wire import Reply, chat_request
from tests.e2e.engine import recital
from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import Gateway, serve
from tests.e2e.sdk import CLIENTS, NEWEST, said
from tests.integration.callers import ask, events
from tests.integration.harness import group

EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS)
# ids and times, which differ from answer to answer
MEASURED = re.compile(rb'"(id|created|\w+_ms|\w+_per_second)":("[^"]*"|[\d.e+-]+)')
SAY_WHO = {"messages": [{"role": "user", "content": "Who are you?"}], "cache_prompt": False}  # an option of llama.cpp
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, alpha: Engine, beta: Engine) -> Iterator[Gateway]:
    """For all tests that only ask: alpha answers, and beta stands by."""
    with serve(tmp_path_factory.mktemp("gateway"), alpha, beta, groups={"chat": group(alpha, beta)}) as running:
        yield running


def test_a_model_is_the_same_file_whenever_it_is_made(model: Any, tmp_path: Any) -> None:
    recital.write(tmp_path / "again.gguf", "alpha")

    assert (tmp_path / "again.gguf").read_bytes() == model("alpha").read_bytes()


# --- through the SDK


def test_an_answer_is_what_the_engine_said(gateway: Gateway) -> None:
    seen = said(NEWEST, gateway.base_url, "chat", "unary")

    assert (seen["text"], seen["finish"], seen["target"]) == (" This is alpha.", "stop", "alpha/m-alpha")
    assert seen["tokens"] == 5


def test_a_stream_is_what_the_engine_said(gateway: Gateway) -> None:
    seen = said(NEWEST, gateway.base_url, "chat", "stream")

    assert (seen["text"], seen["finishes"]) == (" This is alpha.", ["stop"])


def test_a_stream_carries_its_usage_when_it_was_asked_for(gateway: Gateway) -> None:
    seen = said(NEWEST, gateway.base_url, "chat", "stream_with_usage")

    assert (seen["choices_of_last"], seen["tokens"]) == (0, 5)


@EVERY_CLIENT
def test_a_tool_is_called_as_the_model_wants(gateway: Gateway, client: str) -> None:
    seen = said(client, gateway.base_url, "chat", "tools")

    assert (seen["name"], seen["arguments"], seen["finish"]) == ("get_weather", {"city": "Oslo"}, "tool_calls")


@EVERY_CLIENT
def test_a_forced_tool_call_arrives_piece_by_piece(gateway: Gateway, client: str) -> None:
    seen = said(client, gateway.base_url, "chat", "forced_tool_in_a_stream")

    assert (seen["name"], seen["arguments"], seen["finish"]) == ("get_weather", {"city": "Oslo"}, "tool_calls")
    assert seen["pieces"] > 2


@EVERY_CLIENT
def test_the_result_of_a_tool_reaches_the_model(gateway: Gateway, client: str) -> None:
    seen = said(client, gateway.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["finish"]) == ("It rains, says alpha.", "stop")


@EVERY_CLIENT
def test_structured_output_is_what_its_schema_says(gateway: Gateway, client: str) -> None:
    seen = said(client, gateway.base_url, "chat", "structured")

    assert (seen["name"], seen["people"]) == ("alpha", 7100)


def test_a_prompt_that_is_too_long_is_an_error_that_says_so(gateway: Gateway) -> None:
    seen = said(NEWEST, gateway.base_url, "chat", "too_long")

    assert (seen["kind"], seen["status"]) == ("BadRequestError", 400)
    assert (seen["type"], seen["code"]) == ("exceed_context_size_error", "context_length_exceeded")
    assert re.search(r"request \(\d+ tokens\) exceeds the available context size \(32768 tokens\)", seen["message"])


@pytest.mark.bug("A-07")
def test_prompts_that_are_too_long_pause_nobody(tmp_path: Any, alpha: Engine, beta: Engine) -> None:
    with serve(tmp_path, alpha, beta, groups={"chat": group(alpha, beta)}) as gateway:
        too_long = chat_request("chat", messages=[{"role": "user", "content": "word " * 30_000}])
        replies = [asyncio.run(ask(gateway.base_url, request)) for request in (*[too_long] * 4, chat_request("chat"))]
        records = gateway.records()

    assert [reply.status for reply in replies] == [400, 400, 400, 400, 200]
    attempts = [[attempt["target_id"] for attempt in record["attempts"]] for record in records]
    assert attempts == [["alpha/m-alpha"]] * 5
    assert records[0]["attempts"][0]["outcome_class"] == "caller_fault"


def test_cached_tokens_reach_the_caller_and_the_record(tmp_path: Any, alpha: Engine, beta: Engine) -> None:
    with serve(tmp_path, alpha, beta, groups={"chat": group(alpha, beta)}) as gateway:
        seen = said(NEWEST, gateway.base_url, "chat", "same_prefix_twice")
        records = gateway.records()

    (first, second), (prompt, _) = seen["cached"], seen["prompt"]
    assert first < 0.1 * prompt < 0.9 * prompt < second < prompt
    assert [record["usage"]["cached_tokens"] for record in records] == [first, second]


# --- byte by byte


def both(alpha: Engine, gateway: Gateway, **fields: Any) -> tuple[Reply, Reply]:
    """The same request to the engine itself and through the gateway."""
    direct, through = chat_request("m-alpha", **SAY_WHO, **fields), chat_request("chat", **SAY_WHO, **fields)
    return asyncio.run(ask(alpha.base_url, direct)), asyncio.run(ask(gateway.base_url, through))


def unmeasured(body: bytes) -> bytes:
    return MEASURED.sub(rb'"\1":0', body)


@pytest.mark.case("I36")
@pytest.mark.parametrize("options", [{}, WITH_USAGE], ids=["unary", "stream"])
def test_an_answer_keeps_every_byte_of_the_engine(alpha: Engine, gateway: Gateway, options: Any) -> None:
    direct, through = both(alpha, gateway, **options)

    assert unmeasured(through.body) == unmeasured(direct.body)
    assert b'"timings":{"cache_n":0,' in through.body  # both ways: what only llama.cpp has


@pytest.mark.bug("E-08")
def test_a_stream_lacks_the_usage_event_that_was_not_asked_for_and_nothing_else(
    alpha: Engine, gateway: Gateway
) -> None:
    asked, _ = both(alpha, gateway, **WITH_USAGE)
    _, through = both(alpha, gateway, stream=True)

    *others, usage = [unmeasured(event) for event in asked.body.split(b"\n\n") if event.startswith(b"data: {")]
    assert b'"choices":[]' in usage
    assert b'"usage":{"completion_tokens":5' in usage
    assert unmeasured(through.body) == b"\n\n".join([*others, b"data: [DONE]\n\n"])
    assert len(events(through)) == len(others) == 6
