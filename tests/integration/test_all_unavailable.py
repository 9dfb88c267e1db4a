"""Every target is unavailable: wait, try or refuse; and what an outage may cost in further calls."""

from typing import Any

import pytest

from pointsman.testing import Answer, Chat, FakeProvider, Status
from pointsman.testing.wire import Reply, chat_request
from tests.integration.callers import ask, ask_all, asks, tally
from tests.integration.harness import eventually, group

FINE = Chat("from b")
TWICE = {"max_attempts": 2}
LONG = {"base": "30s", "max": "5m"}
WAITABLE = {"base": "300ms", "max": "300ms"}
LIMITED = Status(429, retry_after=20)
BAD_KEY = Status(401, {"code": "invalid_api_key"})
AMPLIFICATION = 1.25
REQUESTS = 2_000  # the base of the retry budget is small beside them
EITHER_WAY = pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])


@pytest.mark.bug("B-01")
def test_the_only_target_is_asked_again_after_the_wait_that_its_429_names(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Chat("from a")) as a:
            async with gateway(a, cooldown={"base": "100ms", "max": "1s"}) as gw:
                a.script(Status(429, retry_after=0.2))
                return await ask(gw.base_url, chat_request("chat"))

    assert tally([run(scenario())]) == {(200, "from a"): 1}


async def with_all_paused(
    gateway: Any, answer: Answer, *, cooldown: dict[str, str], mode: str | None = None
) -> tuple[Reply, int]:
    """The answer to one more request after both targets were paused, and how many calls it cost."""
    async with FakeProvider(name="a", default=answer) as a, FakeProvider(name="b", default=answer) as b:
        fields = {} if mode is None else {"on_all_unavailable": mode}
        async with gateway(a, b, groups={"chat": group(a, b, **fields)}, cooldown=cooldown, retry=TWICE) as gw:
            await ask_all(gw.base_url, asks(3, stream=False), concurrency=3)
            await eventually(lambda: gw.breaker("a/m-a") == gw.breaker("b/m-b") == 1)
            already = len(a.log) + len(b.log)
            a.default = b.default = FINE
            reply = await ask(gw.base_url, chat_request("chat"))
            return reply, len(a.log) + len(b.log) - already


@pytest.mark.bug("A-16")
@pytest.mark.case("T41", "T44")
@pytest.mark.parametrize("mode", [None, "auto", "wait"])
@pytest.mark.parametrize("answer", [Status(500), Status(429)], ids=["faults", "rate_limit"])
def test_auto_and_wait_hold_the_request_until_a_near_return(
    run: Any, gateway: Any, answer: Answer, mode: str | None
) -> None:
    reply, calls = run(with_all_paused(gateway, answer, cooldown=WAITABLE, mode=mode))

    assert (tally([reply]), calls) == ({(200, "from b"): 1}, 1)


@pytest.mark.bug("A-16")
@pytest.mark.case("T44")
@pytest.mark.parametrize("mode", ["auto", "try"])
def test_auto_and_try_ask_the_least_bad_target_of_a_long_outage(run: Any, gateway: Any, mode: str) -> None:
    reply, calls = run(with_all_paused(gateway, Status(500), cooldown=LONG, mode=mode))

    assert (tally([reply]), calls) == ({(200, "from b"): 1}, 1)


def test_try_asks_even_a_target_that_limits_us(run: Any, gateway: Any) -> None:
    reply, calls = run(with_all_paused(gateway, LIMITED, cooldown=LONG, mode="try"))

    assert (tally([reply]), calls) == ({(200, "from b"): 1}, 1)


@pytest.mark.bug("A-16", "B-04", "B-17")
@pytest.mark.case("T41", "T44")
@pytest.mark.parametrize(
    ("answer", "mode", "status", "code", "retry_after"),
    [
        (Status(500), "refuse", 503, "all_targets_unavailable", range(29, 37)),
        (LIMITED, "refuse", 429, "upstream_rate_limited", range(29, 37)),  # the pause, which is longer than it said
        (LIMITED, "auto", 429, "upstream_rate_limited", range(29, 37)),
        (Status(429, retry_after=290), "auto", 429, "upstream_rate_limited", range(60, 61)),  # never above 60
        (BAD_KEY, "auto", 502, "upstream_misconfigured", None),
        (BAD_KEY, "refuse", 502, "upstream_misconfigured", None),
    ],
)
def test_a_refusal_says_why_and_when_to_come_back(
    run: Any, gateway: Any, answer: Answer, mode: str, status: int, code: str, retry_after: range | None
) -> None:
    reply, calls = run(with_all_paused(gateway, answer, cooldown=LONG, mode=mode))

    assert (reply.status, reply.json()["error"]["code"], calls) == (status, code, 0)
    header = reply.header("retry-after")
    assert header is None if retry_after is None else header is not None and int(header) in retry_after
    assert reply.header("retry-after-ms") == (None if header is None else header + b"000")
    assert reply.header("x-should-retry") == (b"false" if retry_after is None else b"true")


def test_wait_ends_at_the_deadline_of_the_request(run: Any, gateway: Any) -> None:
    limits = {"total": "300ms", "first_content_reasoning": "200ms", "connect": "200ms", "first_content": "200ms"}

    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a", default=Status(429)) as a:
            groups = {"chat": group(a, on_all_unavailable="wait")}
            async with gateway(a, groups=groups, cooldown={"base": "250ms", "max": "250ms"}, timeouts=limits) as gw:
                return await ask(gw.base_url, chat_request("chat")), len(a.log)

    reply, calls = run(scenario())

    assert reply.status in {429, 504}
    assert calls <= 2


@pytest.mark.case("T39", "I22")
@EITHER_WAY
def test_an_outage_of_the_only_target_is_amplified_by_the_retry_budget_at_most(
    run: Any, gateway: Any, stream: bool
) -> None:
    async def scenario() -> int:
        async with FakeProvider(name="a", default=Status(503)) as a:
            async with gateway(a, cooldown={"base": "10m", "max": "10m"}) as gw:
                replies = await ask_all(gw.base_url, asks(REQUESTS, stream=stream), concurrency=20)

                assert {(reply.status, reply.json()["error"]["code"]) for reply in replies} == {(502, "upstream_error")}
                return len(a.log)

    assert run(scenario()) / REQUESTS <= AMPLIFICATION


@pytest.mark.case("T39", "I22")
@EITHER_WAY
def test_an_outage_of_all_targets_is_amplified_by_the_retry_budget_at_most(
    run: Any, gateway: Any, stream: bool
) -> None:
    async def scenario() -> int:
        async with (
            FakeProvider(name="a", default=Status(503)) as a,
            FakeProvider(name="b", default=Status(503)) as b,
            FakeProvider(name="c", default=Status(503)) as c,
            gateway(a, b, c) as gw,
        ):
            replies = await ask_all(gw.base_url, asks(REQUESTS, stream=stream), concurrency=20)

            assert {reply.status for reply in replies} <= {502, 503}
            return len(a.log) + len(b.log) + len(c.log)

    assert run(scenario()) / REQUESTS <= AMPLIFICATION


@pytest.mark.full
@pytest.mark.case("T51", "I22")
@pytest.mark.parametrize("says", [(), (("x-should-retry", "true"), ("retry-after", "0"))], ids=["silent", "insisting"])
def test_clients_that_retry_and_providers_that_want_it_multiply_nothing(
    run: Any, gateway: Any, figure: Any, says: tuple[tuple[str, str], ...]
) -> None:
    callers, tries_each = 400, 3  # as SDKs do: two retries

    async def scenario() -> tuple[int, int]:
        broken = Status(503, headers=says)
        async with (
            FakeProvider(name="a", default=broken) as a,
            FakeProvider(name="b", default=broken) as b,
            gateway(a, b, groups={"chat": group(a, b, on_all_unavailable="try")}) as gw,
        ):
            tries, waiting = 0, asks(callers, stream=False)
            for _ in range(tries_each):
                tries += len(waiting)
                replies = await ask_all(gw.base_url, waiting, concurrency=20)
                waiting = [raw for raw, reply in zip(waiting, replies, strict=True) if wants_another_try(reply)]
            return tries, len(a.log) + len(b.log)

    tries, calls = run(scenario())

    figure(f"{calls / tries:.2f} calls per try")
    assert tries > 2 * callers
    assert tries <= calls <= AMPLIFICATION * tries


def wants_another_try(reply: Reply) -> bool:
    return reply.header("x-should-retry") == b"true"
