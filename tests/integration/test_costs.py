"""What requests cost, and groups that look for the cheapest target: record, metric and header tell the same."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Chat, FakeProvider, Status
from pointsman.testing.wire import Reply, chat_request
from tests.integration.callers import ask, ask_all, asks, text_of
from tests.integration.harness import Gateway, group

USAGE = Usage(input_tokens=10_000, output_tokens=500, cached_tokens=6_000, cache_write_tokens=1_000)
PRICE = {"input": 2, "output": 10, "cache_read": 0.2, "cache_write": 2.5}
COST_USD = 0.0147  # 3,000 x 2 + 6,000 x 0.2 + 1,000 x 2.5 + 500 x 10 = 14,700
DEAR, CHEAP, FREE = {"input": 5, "output": 20}, {"input": 1, "output": 4}, {"input": 0, "output": 0}


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


@pytest.mark.req("D-072")
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


@pytest.mark.req("O-023")
def test_cheaper_target_is_chosen_and_another_price_by_reload_changes_the_choice(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[set[str]], dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("a")) as a,
            FakeProvider(name="b", default=Chat("b")) as b,
            gateway(a, b, groups={"chat": group(a, b, strategy="cost")}, prices=priced(a=DEAR, b=CHEAP)) as gw,
        ):
            texts = [{text_of(reply) for reply in await ask_all(gw.base_url, asks(50, stream=False))}]
            assert await gw.reload(prices=priced(a=CHEAP, b=DEAR)) == "ok"
            texts.append({text_of(reply) for reply in await ask_all(gw.base_url, asks(50, stream=True))})
            return texts, (await gw.records())[-1]

    texts, record = run(scenario())

    assert texts == [{"b"}, {"a"}]
    (decision,) = record["decisions"]
    assert (decision["mode"], decision["picked"], decision["propensity"]) == ("cost", "a/m-a", 1.0)
    assert decision["candidates"] == ["a/m-a", "b/m-b"]
    assert decision["estimates"][0]["cost_usd"] < decision["estimates"][1]["cost_usd"]
    assert record["facts"]["text_chars"] > 0
    assert record["facts"]["script"] == "latin"


@pytest.mark.req("O-022")
@pytest.mark.parametrize("stream", [False, True])
def test_target_that_charges_more_than_its_list_price_loses_the_traffic(run: Any, gateway: Any, stream: bool) -> None:
    surcharged = Usage(input_tokens=1_000, output_tokens=100, charged_usd=5 * 0.0014)

    async def scenario() -> tuple[list[str], dict[str, Any], dict[str, float]]:
        async with (
            FakeProvider(name="a", default=Chat("a", usage=surcharged)) as a,
            FakeProvider(name="b", default=Chat("b")) as b,
            gateway(
                a, b, groups={"chat": group(a, b, strategy="cost")}, prices=priced(a=CHEAP, b={"input": 2, "output": 8})
            ) as gw,
        ):
            texts = [text_of(await ask(gw.base_url, chat_request("chat", stream=stream))) for _ in range(10)]
            return texts, (await gw.records())[0], gw.samples("price_factor")

    texts, record, factors = run(scenario())

    assert texts == ["a", "a"] + ["b"] * 8  # after two answers the factor is (2 x 5 + 5) / 7
    assert record["usage"]["charged_usd"] == 0.007
    assert sorted(factors.values()) == [1.0, pytest.approx(15 / 7, abs=0.01)]


@pytest.mark.bug("C-10")
def test_free_target_is_preferred_and_one_of_unknown_price_is_the_last_resort(run: Any, gateway: Any) -> None:
    async def scenario() -> list[str]:
        async with (
            FakeProvider(name="a", default=Chat("a")) as a,
            FakeProvider(name="b", default=Chat("b")) as b,
            FakeProvider(name="c", default=Chat("c")) as c,
            gateway(a, b, c, groups={"chat": group(a, b, c, strategy="cost")}, prices=priced(b=FREE, c=CHEAP)) as gw,
        ):
            served = [text_of(await ask(gw.base_url, chat_request("chat")))]
            b.script(Status(500))
            served.append(text_of(await ask(gw.base_url, chat_request("chat"))))
            b.script(Status(500))
            c.script(Status(500))
            served.append(text_of(await ask(gw.base_url, chat_request("chat"))))
            return served

    assert run(scenario()) == ["b", "c", "a"]


@pytest.mark.req("O-023")
def test_estimates_follow_what_providers_count(run: Any, gateway: Any) -> None:
    """A tokenizer that makes a token of every character, and answers of 40 tokens."""
    body = chat_request("chat", messages=[{"role": "user", "content": "railway signals and points " * 100}])
    size = int(re.findall(rb"content-length: (\d+)", body)[0])

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("a", usage=Usage(size, 40))) as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": group(a, b, strategy="cost")}, prices=priced(a=CHEAP, b=DEAR)) as gw,
        ):
            await ask_all(gw.base_url, [body] * 60, concurrency=1)
            records = await gw.records()
            return [record["decisions"][0]["estimates"] for record in (records[0], records[-1])]

    (first, _), (last, other) = run(scenario())

    assert (first["input_tokens"], first["output_tokens"]) == (round(size / 4), 200)
    assert last["input_tokens"] == pytest.approx(size, rel=0.05)
    assert last["output_tokens"] == pytest.approx(40, rel=0.4)
    assert other["input_tokens"] == round(size / 4)  # nobody has counted there
