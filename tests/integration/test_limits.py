"""Limits of targets: configured, told by the provider, learned from its 429s; seen from the outside."""

from typing import Any

import pytest

from pointsman.testing import Chat, FakeProvider, Hang, Status
from pointsman.testing.capacity import Capacity
from pointsman.testing.wire import Wire, chat_request
from tests.integration.callers import ask, ask_all, asks, tally
from tests.integration.harness import eventually
from tests.integration.test_pauses import ShiftedClock

FINE = Chat("from b")
NOTHING_LEFT = (
    ("x-ratelimit-limit-requests", "60"),
    ("x-ratelimit-remaining-requests", "0"),
    ("x-ratelimit-reset-requests", "30s"),
)


def excluded(record: dict[str, Any]) -> dict[str, str]:
    """By which rule, in the first decision of a request."""
    found: dict[str, str] = record["decisions"][0]["excluded"]
    return found


def test_target_gets_no_more_requests_at_once_than_it_may_have(run: Any, gateway: Any) -> None:
    limits = {"a": {"max_concurrent": 2}}

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Hang()) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, provider_fields=limits) as gw,
        ):
            wires = [await Wire.open(gw.base_url) for _ in range(2)]
            for wire in wires:
                wire.send(chat_request("chat"))
            await eventually(lambda: gw.in_flight == 2)
            replies = await ask_all(gw.base_url, asks(5, stream=False))
            assert tally(replies) == {(200, "from b"): 5}
            assert gw.samples("gate") == {'{target="a/m-a"}': 0.0, '{target="b/m-b"}': 1.0}
            for wire in wires:
                wire.close()
            return list(await gw.records())

    records = run(scenario())

    assert [excluded(record) for record in records if record["status"] == 200] == [{"a/m-a": "max_concurrent"}] * 5


@pytest.mark.parametrize("limit", ["max_rps", "max_tpm"])
def test_what_is_above_a_limit_goes_to_the_next_target(run: Any, gateway: Any, limit: str) -> None:
    limits = {"a": {"max_rps": {"max_rps": 0.01}, "max_tpm": {"max_tpm": 10}}[limit]}

    async def scenario() -> tuple[Any, Any]:
        async with (
            FakeProvider(name="a", default=Chat("from a")) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, provider_fields=limits) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(5, stream=False), concurrency=1)
            return tally(replies), [excluded(record) for record in await gw.records()]

    answers, rules = run(scenario())

    assert answers == {(200, "from a"): 1, (200, "from b"): 4}
    assert rules == [{}] + [{"a/m-a": limit}] * 4


@pytest.mark.bug("B-04")
def test_group_at_its_limit_refuses_with_the_time_after_which_it_has_room(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[int, Any, Any]:
        limits = {"a": {"max_rps": 0.05}}
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=limits) as gw:
            await ask(gw.base_url, chat_request("chat"))
            reply = await ask(gw.base_url, chat_request("chat"))
            return reply.status, reply.header("retry-after"), reply.json()["error"]["code"]

    assert run(scenario()) in [(429, b"20", "upstream_rate_limited"), (429, b"19", "upstream_rate_limited")]


@pytest.mark.bug("A-16")
def test_group_whose_limit_soon_has_room_waits_for_it(run: Any, gateway: Any) -> None:
    async def scenario() -> Any:
        limits = {"a": {"max_rps": 5}}
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=limits) as gw:
            return tally(await ask_all(gw.base_url, asks(8, stream=False)))

    assert run(scenario()) == {(200, "ok"): 8}


@pytest.mark.bug("B-06")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_provider_that_says_nothing_is_left_is_asked_again_after_its_reset(
    run: Any, gateway: Any, *, stream: bool
) -> None:
    clock = ShiftedClock()

    async def scenario() -> Any:
        async with (
            FakeProvider(name="a", default=Chat("from a", headers=NOTHING_LEFT)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, clock=clock) as gw,
        ):
            answers = []
            for clock.ahead_s in (0.0, 0.1, 29.0, 31.0):
                answers.append(tally(await ask_all(gw.base_url, asks(1, stream=stream), concurrency=1)))
            clock.ahead_s = 0.0
            return answers

    assert run(scenario()) == [{(200, f"from {name}"): 1} for name in "abba"]


@pytest.mark.req("O-012", "O-014")
@pytest.mark.case("T40")
def test_429_narrows_the_gate_of_a_target_that_is_not_to_be_paused_for_it(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[float, float, int]:
        async with (
            FakeProvider(name="a", default=Status(429)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown={"on_429": "retry_after_only"}) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(100, stream=False), concurrency=1)
            assert tally(replies) == {(200, "from b"): 100}
            return gw.breaker("a/m-a"), gw.samples("gate")['{target="a/m-a"}'], len(a.log)

    breaker, gate, calls = run(scenario())

    assert breaker == 0
    assert gate < 0.2
    assert calls < 40


@pytest.mark.req("X-02")
def test_storm_of_429s_is_no_failure_to_callers(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Any, int]:
        async with (
            FakeProvider(name="a", default=Chat("from a"), capacity=Capacity(20.0, 20)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown={"on_429": "retry_after_only"}) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(300, stream=False), concurrency=10)
            return {reply.status for reply in replies}, len(a.log)

    statuses, _ = run(scenario())

    assert statuses == {200}
