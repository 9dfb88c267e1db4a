"""Every wait for a provider has an end, the same on every path, and none of them cuts what is alive."""

import asyncio
import time
from collections import Counter
from typing import Any

import pytest

from pointsman.domain.policy import Timeouts
from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, FakeProvider, Hang, Truncated, stream_of
from pointsman.testing.wire import (
    Reply,
    chat_request,
    completions_request,
    embeddings_request,
    messages_request,
    responses_request,
)
from tests.integration.callers import ask, ask_all, asks, tally, text_of
from tests.integration.harness import group

FINE = Chat("from b")
LIMIT_S = 0.4
LIMITS = {"first_content": f"{LIMIT_S}s", "first_content_reasoning": f"{LIMIT_S}s", "idle": f"{LIMIT_S}s"}
HALF_AN_HOUR_S = 1_800.0


@pytest.mark.bug("F-03")
@pytest.mark.case("T08")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_a_target_that_hangs_is_left_in_time_and_holds_up_nobody_else(run: Any, gateway: Any, *, stream: bool) -> None:
    async def scenario() -> tuple[Counter[Any], float, float]:
        async with FakeProvider(name="a", default=Hang()) as a, FakeProvider(name="b", default=FINE) as b:
            groups = {"chat": group(a, b), "other": group(b)}
            async with gateway(a, b, groups=groups, timeouts=LIMITS) as gw:
                began = time.monotonic()
                hanging = asyncio.create_task(ask_all(gw.base_url, asks(50, stream=stream), concurrency=50))
                await a.until(lambda: len(a.log) == 50)
                others = await ask_all(gw.base_url, asks(50, stream=stream, model="other"), concurrency=5)
                others_s = time.monotonic() - began
                replies = await hanging
                assert a.open_connections == 0
                return tally(replies + others), others_s, time.monotonic() - began

    answers, others_s, took_s = run(scenario())

    assert answers == {(200, "from b"): 100}
    assert max(others_s, 0.9 * LIMIT_S) < took_s < 4 * LIMIT_S  # a timer may fire a millisecond early
    assert others_s < LIMIT_S


PATHS: dict[str, bytes] = {
    "chat": chat_request("chat"),
    "streamed chat": chat_request("chat", stream=True),
    "messages": messages_request("chat"),
    "streamed messages": messages_request("chat", stream=True),
    "responses": responses_request("chat"),
    "streamed responses": responses_request("chat", stream=True),
    "completions": completions_request("chat"),
    "streamed completions": completions_request("chat", stream=True),
    "embeddings": embeddings_request("chat"),
}
DIALECTS = {"dialects": [str(dialect) for dialect in Dialect]}
SILENCES: dict[str, Answer] = {"no head": Hang(), "half of a body": Truncated("from a " * 50, then="stall")}


@pytest.mark.bug("F-05")
@pytest.mark.case("T08", "T09")
@pytest.mark.parametrize("silence", SILENCES.values(), ids=SILENCES)
@pytest.mark.parametrize("request_", PATHS.values(), ids=PATHS)
def test_a_limit_of_time_holds_on_every_path_and_is_never_shown_as_an_answer(
    run: Any, gateway: Any, request_: bytes, silence: Answer
) -> None:
    async def scenario() -> tuple[Reply, float]:
        async with FakeProvider(name="a", default=silence) as a:
            async with gateway(a, provider_fields={"a": DIALECTS}, timeouts=LIMITS) as gw:
                began = time.monotonic()
                reply = await ask(gw.base_url, request_)
                return reply, time.monotonic() - began

    reply, took_s = run(scenario())

    assert reply.status == 502
    assert "error" in reply.json()
    assert LIMIT_S * 0.9 < took_s < LIMIT_S + 1.5


@pytest.mark.bug("F-06")
def test_a_stream_that_lives_is_not_cut_however_long_it_takes(run: Any, gateway: Any) -> None:
    """Scaled: six times as long as it may be silent."""
    words, gap_s = 24, LIMIT_S / 4

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=stream_of(*["x"] * words, gap_s=gap_s)) as a:
            async with gateway(a, timeouts=LIMITS) as gw:
                return await ask(gw.base_url, chat_request("chat", stream=True), patience_s=10.0)

    assert text_of(run(scenario())) == "x" * words


@pytest.mark.bug("F-06")
def test_by_default_a_stream_may_take_half_an_hour() -> None:
    assert Timeouts().total_stream_s >= HALF_AN_HOUR_S
