"""Signals under any history: recovery is always possible, and what was learned outlives every reload."""

import math
from collections import Counter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from pointsman.domain.decision import Effects
from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass, ToldLimit
from pointsman.domain.policy import MARKET, Cooldown
from pointsman.domain.view import Breaker, Signal, TargetView
from pointsman.signals.board import SignalBoard
from pointsman.signals.pauses import MAX_RETRY_AFTER_S
from pointsman.signals.target_state import Lease
from pointsman.signals.throttle import MIN_GATE
from pointsman.testing import builders
from tests.properties.thorough import thorough
from tests.unit.signals.pausing import Draws

POLICY = Cooldown()
LONGEST_PAUSE_S = max(POLICY.max_s, MAX_RETRY_AFTER_S) * (1 + POLICY.jitter_ratio)
TARGET = builders.target("a/m")
GROUP = builders.group("chat", "a/m")

outcomes = st.builds(
    Outcome,
    outcome_class=st.sampled_from(OutcomeClass),
    confirmed=st.booleans(),
    retry_after_s=st.none() | st.floats(-1e9, 1e12),
)


class PausesOfOneTarget(RuleBasedStateMachine):
    """Attempts begin and end in any order and at any time; probes only when the permit is free, as routing asks."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.rng, self.now, self.live = Draws(), 1_000.0, 0
        self.board = SignalBoard(self.rng)

    @rule(duration_s=st.floats(0.0, 400.0))
    def time_passes(self, duration_s: float) -> None:
        self.now += duration_s

    @rule(target=leases, caller=st.sampled_from("abc"))
    def attempt_begins(self, caller: str) -> Lease:
        view = self.view()
        is_probe = view.breaker is Breaker.HALF_OPEN and not view.is_probing
        self.live += 1
        return self.board.started(TARGET, caller, self.now, is_probe=is_probe)

    @rule(lease=consumes(leases), outcome=outcomes, draw=st.floats(0.0, 1.0, exclude_max=True))
    def attempt_ends(self, lease: Lease, outcome: Outcome, draw: float) -> None:
        self.rng.value = draw
        before = self.view()
        self.board.record(lease, outcome, self.now, GROUP)
        self.live -= 1
        after = self.view()
        if before.breaker is not Breaker.CLOSED:
            if after.breaker is Breaker.CLOSED:
                assert outcome.outcome_class is OutcomeClass.OK, "a pause ended without a success"
            else:
                assert after.paused_until >= before.paused_until, "a deadline was shortened"

    @invariant()
    def in_flight_is_what_began_and_did_not_end(self) -> None:
        assert self.board.in_flight(TARGET) == self.live

    @invariant()
    def every_pause_ends_in_bounded_time(self) -> None:
        until = self.view().paused_until
        assert math.isfinite(until)
        assert until <= self.now + LONGEST_PAUSE_S
        later = self.board.target_view(TARGET, self.now + LONGEST_PAUSE_S)
        assert later.breaker in {Breaker.CLOSED, Breaker.HALF_OPEN}

    @invariant()
    def reading_changes_nothing(self) -> None:
        first = self.view()
        self.board.view(GROUP, self.now + 1e9)
        assert self.view() == first

    def teardown(self) -> None:
        """Whatever has happened: one good probe after the longest pause, and traffic flows."""
        self.now += LONGEST_PAUSE_S
        lease = self.board.started(TARGET, "prober", self.now, is_probe=True)
        self.board.record(lease, Outcome(OutcomeClass.OK), self.now, GROUP)
        assert self.view().breaker is Breaker.CLOSED

    def view(self) -> TargetView:
        return self.board.target_view(TARGET, self.now)


@pytest.mark.case("I3")
@pytest.mark.bug("A-10", "A-14")
class TestPausesOfOneTarget(PausesOfOneTarget.TestCase):  # type: ignore[valid-type,misc]  # made by hypothesis
    settings = thorough(100, stateful_step_count=30)


NAMES = ("a/m", "b/m", "c/m", "d/m")
orders = st.lists(st.sampled_from(NAMES), unique=True, min_size=1).map(tuple)


class BoardOverReloads(RuleBasedStateMachine):
    """Targets come, go and change places while attempts on old and new ones are in flight."""

    leases: Bundle[tuple[str, Lease]] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.board, self.now = SignalBoard(Draws()), 1_000.0
        self.group = builders.group("chat", *NAMES, strategy="round_robin")
        self.in_flight: Counter[str] = Counter()

    @rule(order=orders)
    def reload(self, order: tuple[str, ...]) -> None:
        before = {name: self.view(name) for name in NAMES}
        kept = set(self.names) & set(order)
        credits_before = self.credits()
        is_same = set(self.names) == set(order)
        self.group = builders.group("chat", *order, strategy="round_robin")
        self.board.keep([self.group])
        assert all(self.view(name) == before[name] for name in kept), "an unchanged target lost what it had learned"
        assert self.credits() == (credits_before if is_same else dict.fromkeys(order, 0.0))
        known = {name for name in NAMES if name in order or self.in_flight[name]}
        assert set(self.board._targets) <= known, "a target that is gone is remembered for nothing"

    @rule(draw=st.integers(0, 3))
    def turn_passes(self, draw: int) -> None:
        names = self.names
        moved = [1.0] * len(names)
        moved[draw % len(names)] -= len(names)
        owed = self.board.view(self.group, self.now).turn_credits
        self.board.apply(self.group, Effects(turn_credits=tuple(a + b for a, b in zip(owed, moved, strict=True))))

    @rule(target=leases, draw=st.integers(0, 3))
    def attempt_begins(self, draw: int) -> tuple[str, Lease]:
        name = self.names[draw % len(self.names)]
        self.in_flight[name] += 1
        return name, self.board.started(builders.target(name), "alice", self.now, is_probe=False)

    @rule(begun=consumes(leases), outcome=outcomes)
    def attempt_ends(self, begun: tuple[str, Lease], outcome: Outcome) -> None:
        name, lease = begun
        self.in_flight[name] -= 1
        self.board.record(lease, outcome, self.now, GROUP)

    @invariant()
    def in_flight_is_what_began_and_did_not_end(self) -> None:
        assert all(self.board.in_flight(builders.target(name)) == self.in_flight[name] for name in NAMES)

    @invariant()
    def group_is_calm_only_if_all_its_targets_are(self) -> None:
        view = self.board.view(self.group, self.now)
        assert view.targets == tuple(self.view(name) for name in self.names)
        assert view.is_calm == all(seen.is_calm for seen in view.targets)

    @property
    def names(self) -> list[str]:
        return [member.target.id for member in self.group.members]

    def credits(self) -> dict[str, float]:
        return dict(zip(self.names, self.board.view(self.group, self.now).turn_credits, strict=True))

    def view(self, name: str) -> TargetView:
        return self.board.target_view(builders.target(name), self.now)


@pytest.mark.req("R-034", "X-09")
@pytest.mark.case("I3", "I26")
@pytest.mark.bug("P-6", "C-02")
class TestBoardOverReloads(BoardOverReloads.TestCase):  # type: ignore[valid-type,misc]  # made by hypothesis
    settings = thorough(100, stateful_step_count=30)


MARKET_GROUP = builders.group(
    "chat", "a/m", "b/m", "c/m", "d/m", "e/m", cooldown=MARKET, reads=frozenset((Signal.FAILURES, Signal.RATE_LIMITS))
)
LONGEST_MARKET_PAUSE_S = max(MARKET.max_s, MAX_RETRY_AFTER_S) * (1 + MARKET.jitter_ratio)
FORGOTTEN_S = 601.0  # the longest memory of a limit

told = st.lists(st.builds(ToldLimit, st.sampled_from(LimitedUnit), st.floats(0.0, 1e9), st.floats(1e-3, 300.0)))
ends = st.builds(
    Outcome,
    outcome_class=st.sampled_from(
        [*OutcomeClass, *[OutcomeClass.RATE_LIMITED] * 4, *[OutcomeClass.UPSTREAM_FAULT] * 4]
    ),
    status=st.sampled_from([None, 200, 429, 500]),
    confirmed=st.booleans(),
    retry_after_s=st.none() | st.floats(-1e9, 1e12),
    told_limits=told.map(tuple),
)


class TargetsOfAMarket(RuleBasedStateMachine):
    """Five targets that fail, refuse and serve at any time and rate: gates stay sound, and everybody comes back."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.board, self.now = SignalBoard(Draws()), 1_000.0
        self.board.keep([MARKET_GROUP])
        self.board.request_began(MARKET_GROUP, self.now)

    @rule(duration_s=st.sampled_from([0.01, 0.5, 5.0]) | st.floats(0.0, 400.0))
    def time_passes(self, duration_s: float) -> None:
        self.now += duration_s

    @rule(target=leases, index=st.integers(0, 4))
    def attempt_begins(self, index: int) -> Lease:
        return self.begin(index)

    @rule(lease=consumes(leases), outcome=ends)
    def attempt_ends(self, lease: Lease, outcome: Outcome) -> None:
        self.board.record(lease, outcome, self.now, MARKET_GROUP)

    @rule(index=st.integers(0, 4), outcome=ends, times=st.integers(1, 20), gap_s=st.floats(0.0, 0.5))
    def attempts_end_in_a_row(self, index: int, outcome: Outcome, times: int, gap_s: float) -> None:
        for _ in range(times):
            lease = self.begin(index)
            self.now += gap_s
            self.board.record(lease, outcome, self.now, MARKET_GROUP)

    @invariant()
    def gates_are_probabilities_and_only_limits_exclude(self) -> None:
        for seen in self.board.view(MARKET_GROUP, self.now).targets:
            assert 0.0 <= seen.gate <= 1.0
            assert (seen.gate == 0.0) == (seen.limit is not None)
            assert seen.limit is None or self.now < seen.limited_until <= self.now + MAX_RETRY_AFTER_S
            assert seen.limit is not None or seen.gate >= MIN_GATE

    @invariant()
    def caps_are_above_zero(self) -> None:
        for member in MARKET_GROUP.members:
            assert all(cap > 0.0 for cap in self.board.caps(member.target, self.now).values())

    @invariant()
    def reading_changes_nothing(self) -> None:
        first = self.board.view(MARKET_GROUP, self.now)
        self.board.view(MARKET_GROUP, self.now + 1e9)
        assert self.board.view(MARKET_GROUP, self.now) == first

    def teardown(self) -> None:
        """Whatever has happened: three good probes after the longest pause, the slow start, and nothing is left."""
        for index, member in enumerate(MARKET_GROUP.members):
            self.now += LONGEST_MARKET_PAUSE_S
            for _ in range(MARKET.closing_successes):
                self.serve(index)
            assert self.board.target_view(member.target, self.now).breaker is Breaker.CLOSED
            self.now += FORGOTTEN_S
            self.serve(index)
            assert self.board.target_view(member.target, self.now) == TargetView()

    def begin(self, index: int) -> Lease:
        target = MARKET_GROUP.members[index].target
        view = self.board.target_view(target, self.now)
        is_probe = view.breaker is Breaker.HALF_OPEN and not view.is_probing
        return self.board.started(target, "alice", self.now, is_probe=is_probe, facts=builders.facts())

    def serve(self, index: int) -> None:
        self.board.record(self.begin(index), Outcome(OutcomeClass.OK, status=200), self.now, MARKET_GROUP)


@pytest.mark.req("O-010", "O-012", "O-014")
@pytest.mark.case("T40", "I28")
@pytest.mark.bug("A-10", "A-14")
class TestTargetsOfAMarket(TargetsOfAMarket.TestCase):  # type: ignore[valid-type,misc]  # made by hypothesis
    settings = thorough(100, stateful_step_count=30)
