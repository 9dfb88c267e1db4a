"""Thousands of callers, providers that do anything, and everybody leaving whenever they like."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from pointsman.testing import Answer, Chat, CloseEarly, FakeProvider, Hang, Raw, Received, Status, stream_of
from pointsman.testing.wire import Wire
from tests.integration.callers import asks
from tests.integration.harness import Gateway

WAYS: tuple[Callable[[Wire], None], ...] = (Wire.close, Wire.reset, Wire.half_close)


class Whims:
    """A provider that does anything, seeded."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def answer(self, received: Received) -> Answer:
        """What comes to its mind."""
        del received
        delay_s = self._rng.choice((0.0, 0.0, 0.005, 0.02))
        kinds: tuple[Answer, ...] = (
            Chat("some more words", delay_s=delay_s, gap_s=0.002),
            Chat("fine", delay_s=delay_s),
            stream_of("a", "b", "c", then="stall", gap_s=0.002),
            stream_of("a", then="cut" if self._rng.random() < 0.5 else "reset"),
            Hang(),
            Status(500, delay_s=delay_s),
            Status(429, retry_after=0.01),
            CloseEarly(reset=self._rng.random() < 0.5),
            Raw((b"HTTP/1.1 200 OK\r\n",), then="stall"),
        )
        return self._rng.choice(kinds)


async def come_and_go(gw: Gateway, request: bytes, patience_s: float, way: Callable[[Wire], None]) -> None:
    """Ask, wait for a while, leave."""
    wire = await Wire.open(gw.base_url)
    wire.send(request)
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            await wire.reply()
    way(wire)
    if way is Wire.half_close:
        await wire.is_silent(0.01)
        wire.close()


@pytest.mark.slow
@pytest.mark.bug("F-01", "F-02")
@pytest.mark.case("T25", "T26", "I2", "I3", "I4")
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.full)])
def test_callers_leaving_at_random_moments_leave_nothing_behind(run: Any, gateway: Any, count: int) -> None:
    rng = random.Random(20)
    limits = {"first_content": "150ms", "first_content_reasoning": "150ms", "idle": "150ms"}
    requests = asks(count // 2, stream=False) + asks(count // 2, stream=True)
    rng.shuffle(requests)

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", answer_for=Whims(1).answer) as a,
            FakeProvider(name="b", answer_for=Whims(2).answer) as b,
            gateway(a, b, cooldown={"base": "5ms", "max": "5ms"}, timeouts=limits) as gw,
        ):
            places = asyncio.Semaphore(100)

            async def one(request: bytes) -> None:
                async with places:
                    await come_and_go(gw, request, rng.uniform(0.001, 0.06), rng.choice(WAYS))

            async with asyncio.TaskGroup() as group:
                for request in requests:
                    group.create_task(one(request))
            records: list[dict[str, Any]] = await gw.records()  # the oracles of in-flight, tasks and sockets are there
            return records

    records = run(scenario())

    assert len(records) == len(requests)
    assert len({record["request_id"] for record in records}) == len(requests)
    gone = [record for record in records if record["reason"] == "caller_gone"]
    assert len(gone) > count // 10
    assert {record["status"] for record in gone} == {499}
