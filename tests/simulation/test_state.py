"""Decisions come from what this process has learned, at a price that does not depend on how much that is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

import pytest

from pointsman.domain.decision import Decision
from pointsman.domain.outcome import Usage
from pointsman.domain.target import ModelGroup
from pointsman.routing.exchange import Exchange, Send
from pointsman.routing.router import decide
from pointsman.routing.strategies import STRATEGIES
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders

NOW = 1_000.0
WINDOW_S = 600.0
PRICES = {"a/m": builders.price(), "b/m": builders.price(2.0, 4.0)}
SCORED = sorted(name for name, row in STRATEGIES.items() if row.score is not None)
OUTSIDE = ("open", "os.", "socket.", "sqlite3.", "subprocess.", "urllib.")

_heard: list[str] | None = None


def _listen(event: str, _: object) -> None:
    if _heard is not None and event.startswith(OUTSIDE):
        _heard.append(event)


sys.addaudithook(_listen)  # for good: the interpreter has no way to take one away


@contextmanager
def calls_outside() -> Iterator[list[str]]:
    """What is opened, read or connected to meanwhile, as the interpreter reports it."""
    global _heard  # noqa: PLW0603  # the hook is a function of the process
    _heard = found = []
    try:
        yield found
    finally:
        _heard = None


def learned(group: ModelGroup, attempts: int, *, seed: int = 1) -> SignalBoard:
    """A board on which so many attempts have ended within one window, some of them badly."""
    board, rng = SignalBoard(Random(seed)), Random(seed)
    board.keep([group])
    for number in range(attempts):
        attempt(board, group, rng.randrange(len(group.members)), NOW + number * WINDOW_S / attempts, 0.3, rng.random())
    return board


def attempt(board: SignalBoard, group: ModelGroup, index: int, now: float, ttft_s: float, fate: float = 1.0) -> None:
    target, ask = group.members[index].target, builders.ask(stream=True)
    lease = board.started(target, "alice", now, is_probe=False, facts=ask.facts)
    usage = Usage(input_tokens=100, output_tokens=20)
    if fate < 0.02:
        ended = builders.outcome("upstream_fault", status=500, duration_s=0.01)
    else:
        ended = builders.outcome(status=200, ttfb_s=ttft_s, ttft_s=ttft_s, duration_s=1.0, usage=usage)
        board.learn(group, target, ask, usage, now)
    board.served(group)
    board.record(lease, ended, now, group)


def decision(board: SignalBoard, group: ModelGroup, now: float) -> Decision:
    ask = builders.ask(stream=True)
    lengths = board.expected(group, ask, now) if group.policy.compares_prices else None
    return decide(ask, group, board.view(group, now), rng=Random(3), lengths=lengths)


def opcodes(board: SignalBoard, group: ModelGroup, now: float) -> int:
    """Steps of the interpreter that one decision takes: the same on every machine."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    decision(board, group, now)  # what is derived from the configuration is kept from then on
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        decision(board, group, now)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.req("G-056")
@pytest.mark.parametrize(("strategy", "number"), [("p2c", "ttfb_s"), ("blend", "ttft_s")])
def test_every_outcome_counts_in_the_very_next_decision(strategy: str, number: str) -> None:
    group = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES)
    board, now = learned(group, 200), NOW + WINDOW_S
    before = decision(board, group, now)

    attempt(board, group, 0, now, ttft_s=9.0)

    after = decision(board, group, now)
    assert before.scores is not None
    assert after.scores is not None
    assert getattr(after.scores.measured[0], number) > 1.01 * getattr(before.scores.measured[0], number)
    assert after.scores.terms != before.scores.terms


@pytest.mark.req("G-056", "D-070")
@pytest.mark.bug("C-09")
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_nothing_outside_the_process_is_asked_from_start_to_end_of_a_request(strategy: str) -> None:
    group = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES)
    board, now = learned(group, 200), NOW + WINDOW_S

    with calls_outside() as found:
        exchange = Exchange(builders.ask(), group, board, Random(1), began_at=now, deadline=now + 60.0)
        command = exchange.start(now)
        while isinstance(command, Send):
            lease = board.started(command.target, "alice", now, is_probe=command.is_probe, facts=exchange.ask.facts)
            ended = builders.outcome("upstream_fault" if len(exchange.picks) == 1 else "ok", status=500)
            board.record(lease, ended, now, group)
            command = exchange.finished(ended, now)

    assert len(exchange.picks) == 2
    assert found == []


def test_listener_hears_what_is_opened() -> None:
    with calls_outside() as found, open(__file__, encoding="utf-8"):  # noqa: PTH123  # the plainest way
        pass

    assert found == ["open"]


@pytest.mark.req("X-15")
@pytest.mark.parametrize("strategy", SCORED)
def test_decision_costs_the_same_at_a_hundred_times_the_rate(strategy: str) -> None:
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy=strategy, prices=PRICES)
    now = NOW + WINDOW_S

    calm, busy = (opcodes(learned(group, attempts), group, now) for attempts in (200, 20_000))

    assert calm > 100
    assert busy == pytest.approx(calm, rel=0.03)  # a branch here and there; a scan would cost a hundred times as much


@pytest.mark.req("X-15")
@pytest.mark.parametrize("strategy", SCORED)
def test_decision_costs_the_same_after_a_storm_of_rate_limits(strategy: str) -> None:
    group, now, costs = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES), NOW + WINDOW_S, []
    for limits in (20, 2_000):
        board = learned(group, 200)
        for number in range(limits):
            at = now - 10.0 + number * 10.0 / limits
            lease = board.started(group.members[0].target, "alice", at, is_probe=False, facts=builders.facts())
            board.record(lease, builders.outcome("rate_limited", status=429), at, group)
        costs.append(opcodes(board, group, now))

    assert costs[1] == pytest.approx(costs[0], rel=0.05)


@pytest.mark.trap("35")
@pytest.mark.bug("C-09")
@pytest.mark.parametrize("strategy", SCORED)
def test_cost_of_a_decision_grows_no_faster_than_the_number_of_targets(strategy: str) -> None:
    few, many = (builders.group("chat", *[f"{i}/m" for i in range(size)], strategy=strategy) for size in (10, 100))
    now = NOW + WINDOW_S

    assert opcodes(learned(many, 2_000), many, now) < 12 * opcodes(learned(few, 2_000), few, now)


@pytest.mark.req("D-003")
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_better_target_of_another_group_is_never_considered(strategy: str) -> None:
    chat = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES)
    other = builders.group("other", "z/m", "a/m", strategy=strategy, prices={"z/m": builders.price(0.0, 0.0)})
    board, rng, now = SignalBoard(Random(1)), Random(2), NOW
    board.keep([chat, other])
    config = builders.snapshot([chat, other])
    for _ in range(100):
        attempt(board, other, 0, now, ttft_s=0.01)
        attempt(board, chat, 0, now, ttft_s=9.0)
        attempt(board, chat, 1, now, ttft_s=9.0)

    for _ in range(200):
        exchange = Exchange(builders.ask(config=config), chat, board, rng, began_at=now, deadline=now + 60.0)
        command = exchange.start(now)
        while isinstance(command, Send):
            command = exchange.finished(builders.outcome("upstream_fault", detail="protocol"), now)

        assert {pick.target.id for pick in exchange.picks} == {"a/m", "b/m"}
        named = [
            name for each in exchange.decisions for name in (*each.candidates, *[x.target_id for x in each.excluded])
        ]
        assert set(named) == {"a/m", "b/m"}
