"""Strategies that measure, over real sockets: what is slow, busy or silent loses its share."""

from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Chat, FakeProvider, Hang
from pointsman.testing.wire import Wire
from tests.integration.callers import CHAT, MESSAGES, REQUEST, RESPONSES, ask, ask_all, asks
from tests.integration.harness import Gateway, eventually, weighted

FAST, SLOW = Chat("ok", delay_s=0.005), Chat("ok", delay_s=0.1)
# no exploration: with so few requests chance would decide
SETTINGS = {"routing_policy": {"blend": {"min_samples": 10, "exploration_ratio": 0}}}


def modes(records: list[dict[str, Any]]) -> Counter[str]:
    return Counter(record["decisions"][0]["mode"] for record in records)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("strategy", ["least_busy", "p2c", "blend", "market"])
def test_slow_target_loses_share(run: Any, gateway: Any, strategy: str, stream: bool) -> None:
    async def scenario() -> tuple[int, list[dict[str, Any]]]:
        async with FakeProvider(name="a", default=SLOW) as a, FakeProvider(name="b", default=FAST) as b:
            groups = {"chat": weighted((a, b), (1, 1), strategy=strategy, **SETTINGS)}
            async with gateway(a, b, groups=groups) as gw:
                await ask_all(gw.base_url, asks(40, stream=stream), concurrency=4)
                before = len(a.log)
                await ask_all(gw.base_url, asks(80, stream=stream), concurrency=4)
                return len(a.log) - before, await gw.records()

    to_slow, records = run(scenario())

    assert to_slow < 0.3 * 80
    assert {record["status"] for record in records} == {200}
    assert strategy in modes(records)


@pytest.mark.bug("C-04")
@pytest.mark.parametrize("held", [CHAT, RESPONSES, MESSAGES])
def test_request_in_flight_is_load_whatever_its_dialect_and_that_of_the_next_one(
    run: Any, gateway: Any, held: Dialect
) -> None:
    async def scenario() -> tuple[str, dict[str, int]]:
        async with FakeProvider(name="a", default=Hang()) as a, FakeProvider(name="b", default=Hang()) as b:
            groups = {"chat": weighted((a, b), (1, 1), strategy="least_busy")}
            async with gateway(a, b, groups=groups) as gw, await Wire.open(gw.base_url) as waiting:
                waiting.send(REQUEST[held]("chat", stream=True))
                await eventually(lambda: len(a.log) + len(b.log) == 1)
                a.default = b.default = FAST
                busy, idle = (a, b) if a.log else (b, a)
                for dialect in (CHAT, RESPONSES, MESSAGES) * 4:
                    assert (await ask(gw.base_url, REQUEST[dialect]("chat"))).status == 200
                return busy.name, {provider.name: len(provider.log) for provider in (busy, idle)}

    busy, calls = run(scenario())

    assert calls.pop(busy) == 1
    assert list(calls.values()) == [12]


@pytest.mark.bug("C-08")
@pytest.mark.parametrize("strategy", ["least_busy", "p2c", "blend", "market"])
def test_target_that_hangs_loses_its_traffic_before_any_request_has_failed(
    run: Any, gateway: Any, strategy: str
) -> None:
    async def scenario() -> tuple[int, int]:
        async with FakeProvider(name="a", default=FAST) as a, FakeProvider(name="b", default=FAST) as b:
            groups = {"chat": weighted((a, b), (1, 1), strategy=strategy, **SETTINGS)}
            async with gateway(a, b, groups=groups) as gw:
                await ask_all(gw.base_url, asks(40, stream=True), concurrency=4)
                a.default = Hang()
                async with AsyncExitStack() as callers:
                    for request in asks(12, stream=True):
                        (await callers.enter_async_context(await Wire.open(gw.base_url))).send(request)
                    await eventually(lambda: silent_for_s(gw) > 1.5)
                    before = len(a.log)
                    replies = await ask_all(gw.base_url, asks(20, stream=True), concurrency=1)
                    assert {reply.status for reply in replies} == {200}
                    return before, len(a.log)

    before, after = run(scenario())

    assert before > 0
    assert after == before


def silent_for_s(gw: Gateway) -> float:
    """Age of the oldest attempt that waits for its first content."""
    now, states = gw.app._clock.now(), gw.app.board._targets.values()
    return max((now - lease.started_at for state in states for lease in state.waiting), default=0.0)
