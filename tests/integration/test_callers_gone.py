"""Callers leave in every phase: the upstream socket closes at once, nothing is blamed, nothing is left behind."""

import socket
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Events, FakeProvider, Hang, Status, Truncated, chat, stream_of
from pointsman.testing.wire import Wire, chat_request
from tests.integration.callers import CHAT, MESSAGES, RESPONSES, asks
from tests.integration.harness import At, Gateway, eventually

Moment: TypeAlias = Callable[[list[Wire]], Coroutine[Any, Any, None]]

LEAVERS = 200
AT_ONCE = 20
CLOSED_WITHIN_S = 0.1  # of 99 in 100
SOON_ENOUGH_TO_WAIT = {"base": "5s"}
ROLE = chat.chunk(chat.role_delta())

WAYS: dict[str, Callable[[Wire], None]] = {"fin": Wire.close, "rst": Wire.reset, "half_close": Wire.half_close}
EVERY_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
PHASES: dict[str, tuple[Answer, bool, Dialect]] = {
    "unary_waits_for_headers": (Hang(), False, CHAT),
    "stream_waits_for_headers": (Hang(), True, CHAT),
    "waits_for_content": (Events((ROLE,), then="stall"), True, CHAT),
    "waits_for_the_rest_of_a_body": (Truncated("x" * 50, then="stall"), False, CHAT),
    "mid_stream": (stream_of("one", then="stall"), True, CHAT),
    "responses_wait_for_content": (stream_of(then="stall", dialect=RESPONSES), True, RESPONSES),
    "responses_mid_stream": (stream_of("one", then="stall", dialect=RESPONSES), True, RESPONSES),
    "messages_wait_for_content": (stream_of(then="stall", dialect=MESSAGES), True, MESSAGES),
    "messages_mid_stream": (stream_of("one", then="stall", dialect=MESSAGES), True, MESSAGES),
}


async def leave_together(gw: Gateway, requests: list[bytes], moment: Moment, way: Any) -> float:
    """All send, wait for the moment, and leave; when that was, in monotonic seconds."""
    wires = [await Wire.open(gw.base_url) for _ in requests]
    for wire, request in zip(wires, requests, strict=True):
        wire.send(request)
    await moment(wires)
    left_at = time.monotonic()
    for wire in wires:
        way(wire)
    if way is Wire.half_close:
        for wire in wires:
            await wire.end()
            wire.close()
    return left_at


@pytest.mark.bug("F-01", "F-02")
@pytest.mark.case("T25", "I2", "I3", "I4")
@EVERY_WAY
@pytest.mark.parametrize(("answer", "stream", "dialect"), PHASES.values(), ids=PHASES)
def test_the_upstream_is_closed_at_once_and_nothing_is_blamed(
    run: Any, gateway: Any, answer: Answer, stream: bool, dialect: Dialect, way: Any
) -> None:
    async def scenario() -> tuple[list[float], list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=answer) as a, FakeProvider(name="b") as b, gateway(a, b) as gw:
            delays_s: list[float] = []
            for _ in range(LEAVERS // AT_ONCE):
                delays_s += await closing_delays_s(gw, a, asks(AT_ONCE, stream=stream, dialect=dialect), way)

            assert gw.breaker("a/m-a") == 0
            assert not b.log
            return delays_s, await gw.records()

    delays_s, records = run(scenario())

    assert len(delays_s) == LEAVERS
    assert percentile(delays_s, 0.99) <= CLOSED_WITHIN_S
    ends = Counter((record["reason"], record["status"], len(record["attempts"])) for record in records)
    assert ends == {("caller_gone", 499, 1): LEAVERS}
    assert {record["attempts"][0]["outcome_class"] for record in records} == {"caller_gone"}


async def closing_delays_s(gw: Gateway, a: FakeProvider, requests: list[bytes], way: Any) -> list[float]:
    """For each of some callers, how long its upstream socket outlived it."""
    already = len(a.log)
    has_content = a.default in (PHASES["mid_stream"][0], PHASES["messages_mid_stream"][0])

    async def moment(wires: list[Wire]) -> None:
        await a.until(lambda: len(a.log) == already + len(requests))
        if has_content:
            for wire in wires:
                await wire.received_bytes(1)

    left_at = await leave_together(gw, requests, moment, way)
    await a.until(lambda: all(received.closed_at is not None for received in a.log))
    return [(received.closed_at or 0.0) - left_at for received in a.log[already:]]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


@contextmanager
def full_backlog() -> Iterator[At]:
    """An address where connecting never ends: nobody accepts, and the queue of the listener is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        try:
            yield At("a", f"http://127.0.0.1:{address[1]}/v1")
        finally:
            for filler in fillers:
                filler.close()


@pytest.mark.bug("F-01")
@pytest.mark.case("T25")
@EVERY_WAY
def test_a_caller_that_leaves_while_connecting_ends_the_attempt(run: Any, gateway: Any, way: Any) -> None:
    async def scenario() -> tuple[list[dict[str, Any]], list[float]]:
        with full_backlog() as nowhere:
            async with gateway(nowhere) as gw:

                async def connecting(_: list[Wire]) -> None:
                    await eventually(lambda: gw.in_flight == AT_ONCE)

                delays_s: list[float] = []
                for _ in range(LEAVERS // AT_ONCE):
                    left_at = await leave_together(gw, asks(AT_ONCE, stream=False), connecting, way)
                    await eventually(lambda: gw.in_flight == 0)
                    delays_s += [time.monotonic() - left_at] * AT_ONCE  # nobody's took longer than the last one's
                return await gw.records(), delays_s

    records, delays_s = run(scenario())

    assert percentile(delays_s, 0.99) <= CLOSED_WITHIN_S
    assert Counter((record["reason"], record["status"]) for record in records) == {("caller_gone", 499): LEAVERS}


@pytest.mark.bug("F-01")
@pytest.mark.case("T25")
@EVERY_WAY
def test_a_caller_that_leaves_while_waiting_for_a_paused_target_starts_nothing(
    run: Any, gateway: Any, way: Any
) -> None:
    async def scenario() -> tuple[list[dict[str, Any]], int]:
        async with FakeProvider(name="a", default=Status(429)) as a, gateway(a, cooldown=SOON_ENOUGH_TO_WAIT) as gw:
            async with await Wire.open(gw.base_url) as first:
                first.send(chat_request("chat"))
                await eventually(lambda: gw.breaker("a/m-a") == 1)
            await gw.quiet()

            async def waiting(_: list[Wire]) -> None:
                await eventually(lambda: gw.requests_in_progress == LEAVERS)

            await leave_together(gw, asks(LEAVERS, stream=False), waiting, way)
            return await gw.records(), len(a.log)

    (_, *records), calls = run(scenario())

    assert calls == 1
    ends = Counter((record["reason"], record["status"], len(record["attempts"])) for record in records)
    assert ends == {("caller_gone", 499, 0): LEAVERS}


async def leave_in_back_off(gw: Gateway, a: FakeProvider) -> None:
    already = len(a.log)
    async with await Wire.open(gw.base_url) as wire:
        wire.send(chat_request("chat"))
        await a.until(lambda: len(a.log) > already)
        await eventually(lambda: gw.in_flight == 0)
    await gw.quiet()


@pytest.mark.bug("F-01")
@pytest.mark.case("T25")
def test_a_caller_that_leaves_during_back_off_starts_no_further_attempt(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[int, list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=Status(503)) as a, gateway(a, retry={"max_attempts": 3}) as gw:
            for _ in range(2):  # a third fault in a row would pause the target
                await leave_in_back_off(gw, a)
            return len(a.log), await gw.records()

    calls, records = run(scenario())

    assert calls == 2
    ends = {(record["reason"], record["status"], len(record["attempts"])) for record in records}
    assert ends == {("caller_gone", 499, 1)}
