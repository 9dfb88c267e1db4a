"""What a gateway learns from the answers of its providers, and what it does not, over real sockets."""

from pathlib import Path
from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.view import Measured
from pointsman.testing import Answer, Chat, Events, FakeProvider, Hang, Status, chat
from pointsman.testing.wire import Wire, chat_request
from tests.integration.callers import ask, ask_all, asks
from tests.integration.harness import Gateway, run_gateway, weighted

# nearly everything goes to the first target: what is learned of the second comes from failover
FIRST_THEN_SECOND = {"strategy": "p2c", "routing_policy": {"p2c": {"min_weight_fraction": 0}}}
BLEND = {"strategy": "blend", "routing_policy": {"blend": {"exploration_ratio": 0}}}
WEIGHTS = (1, 0.000001)
GAP_S = 0.15
ROLE, EMPTY = chat.chunk(chat.role_delta()), chat.chunk({"content": ""})
USUAL_S = 1.0
PRICE = {"input": 1, "output": 2}


def measured(gw: Gateway, now: float | None = None) -> dict[str, Measured]:
    """The numbers of the only group, by target."""
    group = gw.app.live.snapshot.groups["chat"]
    view = gw.app.board.view(group, gw.app._clock.now() if now is None else now)
    return {member.target.id: seen for member, seen in zip(group.members, view.measured, strict=True)}


def reliability(gw: Gateway) -> dict[str, tuple[int, int]]:
    """Attempts that count, and failed ones among them, by target."""
    now, found = gw.app._clock.now(), {}
    for member in gw.app.live.snapshot.groups["chat"].members:
        tracks = gw.app.board._targets[member.target.state_key].tracks
        assert tracks is not None
        sums = tracks.failures.at(now)
        found[member.target.id] = (round(sums.slow_weight), round(sums.slow_sum))
    return found


@pytest.mark.req("O-026")
@pytest.mark.case("T22")
@pytest.mark.trap("8")
@pytest.mark.parametrize("sign", [b": keep-alive\n\n", ROLE, EMPTY], ids=["comment", "role", "empty delta"])
def test_time_to_first_token_ends_with_the_first_content_and_with_no_sign_of_life(
    run: Any, gateway: Any, sign: Any
) -> None:
    events = (sign, sign, chat.chunk({"content": "hi"}), chat.chunk({}, finish_reason="stop"))

    async def scenario() -> tuple[dict[str, Any], Measured]:
        async with (
            FakeProvider(name="a", default=Events(events, gap_s=GAP_S)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": weighted((a, b), WEIGHTS, **BLEND)}) as gw,
        ):
            await ask(gw.base_url, chat_request("chat", stream=True))
            await gw.quiet()
            seen = measured(gw)["a/m-a"]
            return (await gw.records())[0]["attempts"][0], seen

    attempt, seen = run(scenario())

    assert attempt["outcome_class"] == "ok"
    # the content leaves two gaps after the head; a timer may fire a millisecond early, and a busy machine is late
    assert attempt["ttfb_s"] < attempt["ttft_s"] < attempt["duration_s"]
    assert attempt["ttft_s"] - attempt["ttfb_s"] > GAP_S
    assert seen.samples == 1


@pytest.mark.trap("7")
def test_first_byte_first_reasoning_and_first_text_are_recorded_apart(run: Any, gateway: Any) -> None:
    thought = chat.chunk({"reasoning_content": "hm"})
    events = (ROLE, thought, thought, chat.chunk({"content": "hi"}), chat.chunk({}, finish_reason="stop"))

    async def scenario() -> dict[str, Any]:
        async with (
            FakeProvider(name="a", default=Events(events, gap_s=GAP_S)) as a,
            gateway(a, groups={"chat": weighted((a,), (1,))}) as gw,
        ):
            await ask(gw.base_url, chat_request("chat", stream=True))
            await gw.quiet()
            return (await gw.records())[0]["attempts"][0]

    attempt = run(scenario())

    assert attempt["outcome_class"] == "ok"
    assert attempt["ttfb_s"] < attempt["ttft_s"] < attempt["visible_s"] < attempt["duration_s"]
    assert attempt["visible_s"] - attempt["ttft_s"] > GAP_S  # two gaps


@pytest.mark.req("D-072")
def test_after_a_failover_each_target_has_what_it_did_itself(run: Any, gateway: Any) -> None:
    prices = {"overrides": {"a/m-a": PRICE, "b/m-b": PRICE}}

    async def scenario() -> tuple[Any, Any, dict[str, dict[str, float]], dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b", default=Chat("hi", usage=Usage(1_000, 100))) as b,
            gateway(a, b, groups={"chat": weighted((a, b), WEIGHTS, **FIRST_THEN_SECOND)}, prices=prices) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            totals = {name: gw.samples(name) for name in ("tokens_total", "cost_usd_total")}
            return measured(gw), reliability(gw), totals, (await gw.records())[0]

    seen, counted, totals, record = run(scenario())

    assert [attempt["target_id"] for attempt in record["attempts"]] == ["a/m-a", "b/m-b"]
    assert (record["usage"]["input_tokens"], record["cost_usd"]) == (1_000, pytest.approx(0.0012))
    assert totals == {
        "tokens_total": {
            '{kind="input_uncached",target="b/m-b"}': 1_000,
            '{kind="output",target="b/m-b"}': 100,
        },
        "cost_usd_total": {'{target="b/m-b"}': pytest.approx(0.0012)},
    }
    assert (seen["a/m-a"].samples, seen["b/m-b"].samples) == (0, 1)
    assert counted == {"a/m-a": (1, 1), "b/m-b": (1, 0)}


@pytest.mark.req("D-073")
@pytest.mark.parametrize(
    ("answer", "is_limit"),
    [(Status(429), True), (Status(503), False), (Status(200, body=b"<html>"), False), (Hang(), False)],
    ids=["429", "5xx", "unreadable", "timeout"],
)
def test_every_kind_of_failure_counts_in_later_decisions(
    run: Any, gateway: Any, answer: Answer, *, is_limit: bool
) -> None:
    async def scenario() -> tuple[dict[str, tuple[int, int]], dict[str, float]]:
        async with (
            FakeProvider(name="a", default=answer) as a,
            FakeProvider(name="b") as b,
            gateway(
                a, b, groups={"chat": weighted((a, b), WEIGHTS, **FIRST_THEN_SECOND)},
                timeouts={"first_content_reasoning": "200ms"}, cooldown={"on_429": "retry_after_only"},
            ) as gw,
        ):  # fmt: skip
            reply = await ask(gw.base_url, chat_request("chat"))
            assert (reply.status, len(a.log), len(b.log)) == (200, 1, 1)
            return reliability(gw), gw.samples("gate")

    counted, gates = run(scenario())

    assert counted == {"a/m-a": (0, 0) if is_limit else (1, 1), "b/m-b": (1, 0)}
    assert (gates['{target="a/m-a"}'] < 0.9) == is_limit


@pytest.mark.req("X-08")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("strategy", [FIRST_THEN_SECOND, BLEND], ids=["p2c", "blend"])
def test_caller_who_leaves_soon_changes_no_number(
    run: Any, gateway: Any, *, stream: bool, strategy: dict[str, Any]
) -> None:
    """They leave while the target is not late yet."""

    async def scenario() -> tuple[list[Any], dict[str, float]]:
        async with (
            FakeProvider(name="a", default=Chat("fine", delay_s=USUAL_S)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": weighted((a, b), WEIGHTS, **strategy)}) as gw,
        ):
            await ask_all(gw.base_url, asks(5, stream=stream), concurrency=5)
            await gw.quiet()
            now, a.default = gw.app._clock.now(), Chat("fine", delay_s=20.0)
            before, served = (measured(gw, now), reliability(gw)), len(a.log)
            wires = [await Wire.open(gw.base_url) for _ in range(20)]
            for wire in wires:
                wire.send(chat_request("chat", stream=stream))
            await a.until(lambda: len(a.log) == served + len(wires))
            for wire in wires:
                wire.close()
            await gw.quiet()
            return [before, (measured(gw, now), reliability(gw))], gw.samples("gate")

    (before, after), gates = run(scenario())

    assert after == before
    assert set(gates.values()) == {1.0}


@pytest.mark.req("D-071")
@pytest.mark.trap("9")
def test_equal_requests_are_each_sent_and_each_observed(run: Any, gateway: Any) -> None:
    """There is no cache of answers whose hits could be taken for the speed of a target."""

    async def scenario() -> tuple[int, int]:
        async with (
            FakeProvider(name="a") as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": weighted((a, b), WEIGHTS, **BLEND)}) as gw,
        ):
            await ask_all(gw.base_url, asks(7, stream=False), concurrency=1)
            await gw.quiet()
            return len(a.log), measured(gw)["a/m-a"].samples

    assert run(scenario()) == (7, 7)


@pytest.mark.trap("9")
def test_time_that_a_request_waits_for_a_pause_is_no_time_of_the_target(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[dict[str, Any], Measured]:
        async with (
            FakeProvider(name="a") as a,
            FakeProvider(name="b") as b,
            gateway(
                a, b, groups={"chat": weighted((a, b), WEIGHTS, **FIRST_THEN_SECOND)},
                cooldown={"base": "1s", "max": "1s"}, retry={"max_attempts": 2},
            ) as gw,
        ):  # fmt: skip
            a.script(Status(429))
            b.script(Status(429))
            await ask(gw.base_url, chat_request("chat"))
            await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            seen = max(measured(gw).values(), key=lambda each: each.samples)
            return (await gw.records())[-1]["attempts"][-1], seen

    attempt, seen = run(scenario())

    assert attempt["started_s"] > 0.5
    assert attempt["ttft_s"] < attempt["started_s"] / 2
    assert seen.ttfb_s is not None
    assert seen.ttfb_s < attempt["started_s"] / 2


@pytest.mark.req("G-087")
def test_each_node_learns_for_itself(run: Any, tmp_path: Path) -> None:
    async def scenario() -> list[tuple[float, float]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            folders = [tmp_path / name for name in ("one", "two")]
            for folder in folders:
                folder.mkdir()
            async with run_gateway(folders[0], a, b) as one, run_gateway(folders[1], a, b) as two:
                a.script(Status(429, retry_after=60))
                await ask(one.base_url, chat_request("chat"))
                seen = [(one.breaker("a/m-a"), two.breaker("a/m-a"))]
                await ask(two.base_url, chat_request("chat"))
                return [*seen, (len(a.log), len(b.log))]

    assert run(scenario()) == [(1, 0), (2, 1)]
