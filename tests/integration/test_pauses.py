"""Pauses and probes of one target of two, seen from the outside."""

import time
from typing import Any

import pytest

from pointsman.testing import Chat, FakeProvider, Hang, Status
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import ask, ask_all, asks, tally
from tests.integration.harness import eventually

BURST = 200
FINE = Chat("from b")
SHORT = {"base": "100ms", "max": "1s"}


class ShiftedClock:
    """The time of the system, moved ahead when a test says so."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        return time.monotonic() + self.ahead_s

    def utc(self) -> float:
        return time.time() + self.ahead_s


def states_at(gw: Any, clock: ShiftedClock, *ahead_s: float) -> list[float]:
    """The breaker of the first target, so many seconds from now; the clock goes back afterwards."""
    states = []
    for clock.ahead_s in ahead_s:
        states.append(gw.breaker("a/m-a"))
    clock.ahead_s = 0.0
    return states


@pytest.mark.bug("A-01", "A-04", "A-06")
@pytest.mark.case("T01")
@pytest.mark.parametrize("faults", [1, 2, 3])
def test_three_faults_in_a_row_pause_and_fewer_do_not(run: Any, gateway: Any, faults: int) -> None:
    async def scenario() -> tuple[float, int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b", default=FINE) as b, gateway(a, b) as gw:
            a.script(*[Status(500)] * faults)
            await ask_all(gw.base_url, asks(faults + 10, stream=False), concurrency=1)
            return gw.breaker("a/m-a"), len(a.log)

    breaker, calls = run(scenario())

    assert (breaker, calls) == ((1, 3) if faults == 3 else (0, faults + 10))


@pytest.mark.bug("A-09")
@pytest.mark.case("T40")
@pytest.mark.parametrize("headers", [(("retry-after", "60"),), (("retry-after-ms", "60000"),)], ids=["s", "ms"])
def test_a_429_pauses_at_once_and_for_as_long_as_it_says(run: Any, gateway: Any, headers: Any) -> None:
    clock = ShiftedClock()

    async def scenario() -> list[float]:
        async with (
            FakeProvider(name="a", default=Status(429, headers=headers)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, clock=clock) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(10, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from b"): 10}
            assert len(a.log) == 1
            return states_at(gw, clock, 0.0, 59.0, 73.0)  # the jitter is upward, at most a fifth

    assert run(scenario()) == [1, 1, 0.5]


@pytest.mark.case("T40")
def test_the_longest_retry_after_is_five_minutes(run: Any, gateway: Any) -> None:
    clock = ShiftedClock()

    async def scenario() -> list[float]:
        async with (
            FakeProvider(name="a", default=Status(429, retry_after=10**12)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, clock=clock) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            return states_at(gw, clock, 299.0, 361.0)

    assert run(scenario()) == [1, 0.5]


@pytest.mark.bug("A-08", "B-17")
@pytest.mark.case("T47")
@pytest.mark.req("X-01", "G-059")
@pytest.mark.parametrize(
    ("code", "error"),
    [(401, "invalid_api_key"), (403, "billing_not_active"), (429, "insufficient_quota"), (404, "model_not_found")],
)
def test_a_fault_of_ours_that_the_code_confirms_pauses_at_once_for_the_maximum(
    run: Any, gateway: Any, code: int, error: str
) -> None:
    clock = ShiftedClock()

    async def scenario() -> tuple[int, list[float]]:
        async with (
            FakeProvider(name="a", default=Status(code, {"code": error})) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, clock=clock) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(10, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from b"): 10}
            return len(a.log), states_at(gw, clock, 299.0, 361.0)

    assert run(scenario()) == (1, [1, 0.5])


@pytest.mark.bug("A-17", "P-1")
@pytest.mark.case("T43", "I30")
@pytest.mark.req("X-07")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_a_half_open_target_gets_exactly_one_of_two_hundred(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> int:
        async with (
            FakeProvider(name="a", default=Hang()) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown=SHORT) as gw,
        ):
            a.script(Status(429))
            await ask(gw.base_url, chat_request("chat"))
            await eventually(lambda: gw.breaker("a/m-a") == 0.5)
            wires = [await Wire.open(gw.base_url) for _ in range(BURST)]
            for wire in wires:
                wire.send(chat_request("chat", stream=stream))
            await b.until(lambda: len(b.log) == 1 + BURST - 1)
            for wire in wires:
                wire.close()
            await gw.quiet()
            return len(a.log) - 1

    assert run(scenario()) == 1


@pytest.mark.bug("A-10", "A-17")
def test_a_good_probe_returns_the_traffic(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("from a")) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, cooldown=SHORT) as gw,
        ):
            a.script(*[Status(500)] * 3)
            await ask_all(gw.base_url, asks(3, stream=False), concurrency=1)
            await eventually(lambda: gw.breaker("a/m-a") == 0.5)
            await ask(gw.base_url, chat_request("chat"))
            await eventually(lambda: gw.samples("gate")['{target="a/m-a"}'] == 1)  # after its slow start
            replies = await ask_all(gw.base_url, asks(BURST, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from a"): BURST}
            assert gw.breaker("a/m-a") == 0
            records: list[dict[str, Any]] = await gw.records()
            return records

    records = run(scenario())

    assert [record["attempts"][-1]["mode"] for record in records[3:5]] == ["probe", "failover"]


@pytest.mark.bug("A-17")
def test_a_failed_probe_pauses_for_longer_and_its_caller_is_served_elsewhere(run: Any, gateway: Any) -> None:
    clock = ShiftedClock()

    async def scenario() -> list[float]:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b, clock=clock) as gw,
        ):
            await ask_all(gw.base_url, asks(3, stream=False), concurrency=1)
            clock.ahead_s = 37.0
            replies = await ask_all(gw.base_url, asks(10, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from b"): 10}
            assert len(a.log) == 4
            return states_at(gw, clock, 37.0, 37.0 + 59.0, 37.0 + 73.0)

    assert run(scenario()) == [1, 1, 0.5]


@pytest.mark.bug("P-2")
@pytest.mark.parametrize(
    ("status", "code"), [(401, "invalid_api_key"), (403, "invalid_api_key"), (404, "model_not_found")]
)
def test_a_refusal_that_is_no_success_costs_the_target_its_traffic(
    run: Any, gateway: Any, status: int, code: str
) -> None:
    async def scenario() -> tuple[float, int]:
        refused = Status(status, error={"code": code})
        async with (
            FakeProvider(name="a", default=refused) as a,
            FakeProvider(name="b", default=FINE) as b,
            gateway(a, b) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(30, stream=False), concurrency=1)

            assert tally(replies) == {(200, "from b"): 30}
            return gw.breaker("a/m-a"), len(a.log)

    assert run(scenario()) == (1, 1)


@pytest.mark.bug("A-11")
def test_a_probe_has_one_try_and_its_own_error_is_returned(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a", default=Status(503)) as a, gateway(a, cooldown=SHORT) as gw:
            await ask_all(gw.base_url, asks(2, stream=False), concurrency=1)
            await eventually(lambda: gw.breaker("a/m-a") == 0.5)
            already = len(a.log)
            reply = await ask(gw.base_url, chat_request("chat"))
            return reply, len(a.log) - already

    reply, calls = run(scenario())

    assert (reply.status, reply.json()["error"]["code"], calls) == (502, "upstream_error", 1)
