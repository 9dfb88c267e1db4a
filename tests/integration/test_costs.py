"""What requests cost: record, metric and header tell the same."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Chat, FakeProvider
from pointsman.testing.wire import Reply, chat_request
from tests.integration.callers import ask
from tests.integration.harness import Gateway

USAGE = Usage(input_tokens=10_000, output_tokens=500, cached_tokens=6_000, cache_write_tokens=1_000)
PRICE = {"input": 2, "output": 10, "cache_read": 0.2, "cache_write": 2.5}
COST_USD = 0.0147  # 3,000 x 2 + 6,000 x 0.2 + 1,000 x 2.5 + 500 x 10 = 14,700
DEAR, CHEAP = {"input": 5, "output": 20}, {"input": 1, "output": 4}


def priced(**prices: Mapping[str, float]) -> dict[str, object]:
    """The section of prices: by the name of the provider."""
    return {"overrides": {f"{name}/m-{name}": dict(price) for name, price in prices.items()}}


def spent(gw: Gateway) -> dict[str, float]:
    """USD by target."""
    found = gw.samples("cost_usd_total")
    return {re.findall(r'target="([^"]+)"', series)[0]: usd for series, usd in found.items()}


@pytest.mark.bug("H-01", "H-02", "E-09")
@pytest.mark.parametrize("stream", [False, True])
def test_record_metric_and_header_tell_the_same_cost(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, dict[str, float], dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("hi", usage=USAGE)) as a,
            gateway(a, prices=priced(a=PRICE)) as gw,
        ):
            reply = await ask(gw.base_url, chat_request("chat", stream=stream))
            await gw.quiet()
            return reply, spent(gw), (await gw.records())[0]

    reply, bills, record = run(scenario())

    assert record["cost_usd"] == pytest.approx(COST_USD)
    assert bills == {"a/m-a": pytest.approx(COST_USD)}
    assert reply.header("x-pointsman-cost") == (None if stream else b"0.014700000")


@pytest.mark.bug("C-10")
def test_cost_without_a_price_is_nowhere(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, dict[str, float], dict[str, Any]]:
        async with FakeProvider(name="a", default=Chat("hi", usage=USAGE)) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            return reply, spent(gw), (await gw.records())[0]

    reply, bills, record = run(scenario())

    assert (record["cost_usd"], record["cost_unknown"]) == (None, "no_price")
    assert bills == {}
    assert reply.header("x-pointsman-cost") is None


def test_minimal_headers_do_not_tell_the_cost(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        minimal = {"response_headers": "minimal"}
        async with FakeProvider(name="a") as a, gateway(a, prices=priced(a=PRICE), server=minimal) as gw:
            return await ask(gw.base_url, chat_request("chat"))

    reply = run(scenario())

    assert (reply.status, reply.header("x-pointsman-cost")) == (200, None)


@pytest.mark.case("T37")
@pytest.mark.bug("H-06")
def test_failed_attempt_that_was_billed_is_wasted_money_of_its_own_target(run: Any, gateway: Any) -> None:
    empty = Chat("", usage=Usage(1_000, 0), finish_reason="stop")

    async def scenario() -> tuple[dict[str, float], dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=empty) as a,
            FakeProvider(name="b", default=Chat("hi", usage=Usage(1_000, 100))) as b,
            gateway(a, b, prices=priced(a=DEAR, b=CHEAP)) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            return spent(gw), (await gw.records())[0]

    bills, record = run(scenario())

    assert (record["wasted_usd"], record["cost_usd"]) == (pytest.approx(0.005), pytest.approx(0.0014))
    assert bills == {"a/m-a": pytest.approx(0.005), "b/m-b": pytest.approx(0.0014)}
