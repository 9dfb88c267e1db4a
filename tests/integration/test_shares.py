"""Which target serves how often."""

import math
from typing import Any

import pytest

from pointsman.testing import FakeProvider, Status
from tests.integration.callers import ask_all, asks
from tests.integration.harness import Gateway, group, weighted

Z_999 = 3.2905  # standard deviations of a two-sided interval of 99.9 %


@pytest.mark.slow
def test_seventy_to_thirty_comes_out_as_seventy_to_thirty(run: Any, gateway: Any) -> None:
    count = 10_000

    async def scenario() -> tuple[int, int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (70, 30))}) as gw:
                await ask_all(gw.base_url, asks(count, stream=False))
                return len(a.log), len(b.log)

    to_a, to_b = run(scenario())

    assert to_a + to_b == count
    assert abs(to_a - 0.7 * count) <= Z_999 * math.sqrt(count * 0.7 * 0.3)


def test_round_robin_is_exact(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[int, int, int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, FakeProvider(name="c") as c:
            groups = {"chat": weighted((a, b, c), (5, 1, 1), strategy="round_robin")}
            async with gateway(a, b, c, groups=groups) as gw:
                await ask_all(gw.base_url, asks(700, stream=False))
                return len(a.log), len(b.log), len(c.log)

    assert run(scenario()) == (500, 100, 100)


def test_round_robin_interleaves(run: Any, gateway: Any) -> None:
    async def scenario() -> str:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            groups = {"chat": weighted((a, b), (2, 1), strategy="round_robin")}
            async with gateway(a, b, groups=groups) as gw:
                return await order_of(gw, 6)

    assert run(scenario()) == "abaaba"


def test_failover_takes_the_first_that_works_in_the_order_of_the_file(run: Any, gateway: Any) -> None:
    async def scenario() -> str:
        async with (
            FakeProvider(name="c", default=Status(500)) as c,
            FakeProvider(name="a") as a,
            FakeProvider(name="b") as b,
            gateway(c, a, b, groups={"chat": group(c, a, b)}) as gw,
        ):
            return await order_of(gw, 5)

    assert run(scenario()) == "cacacaaa"


@pytest.mark.parametrize(
    ("targets", "strategy"),
    [
        ([{"model": "a/m"}, {"model": "b/n"}], "failover"),
        ([{"model": "a/m", "weight": 1}, {"model": "b/n"}], "weighted"),
    ],
)
def test_without_a_strategy_weights_decide_which_it_is(
    run: Any, gateway: Any, targets: list[dict[str, object]], strategy: str
) -> None:
    async def scenario() -> tuple[str, bool]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups={"chat": {"targets": targets}}) as gw:
                await ask_all(gw.base_url, asks(100, stream=False))
                records = await gw.records()
                return records[0]["strategy"], bool(b.log)

    assert run(scenario()) == (strategy, strategy == "weighted")


@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover"])
def test_a_target_of_weight_zero_gets_nothing(run: Any, gateway: Any, strategy: str) -> None:
    async def scenario() -> tuple[int, set[int]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b", default=Status(500)) as b:
            async with gateway(a, b, groups={"chat": weighted((a, b), (0, 1), strategy=strategy)}) as gw:
                replies = await ask_all(gw.base_url, asks(20, stream=False))
                return len(a.log), {reply.status for reply in replies}

    assert run(scenario()) == (0, {502})


def test_an_alias_is_the_group_itself(run: Any, gateway: Any) -> None:
    async def scenario() -> set[tuple[int, bytes | None]]:
        async with FakeProvider(name="a") as a:
            async with gateway(a, groups={"chat": group(a, aliases=["gpt"])}) as gw:
                replies = await ask_all(gw.base_url, asks(3, stream=False, model="gpt"))
                return {(reply.status, reply.header("x-pointsman-model")) for reply in replies}

    assert run(scenario()) == {(200, b"chat")}


async def order_of(gw: Gateway, count: int) -> str:
    """The first letters of the targets of all attempts, in order."""
    await ask_all(gw.base_url, asks(count, stream=False), concurrency=1)
    return "".join(attempt["target_id"][0] for record in await gw.records() for attempt in record["attempts"])
