"""Pauses under any history: recovery is always possible, deadlines never shrink, reading changes nothing."""

import math

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import Cooldown
from pointsman.domain.view import Breaker, TargetView
from pointsman.signals.board import SignalBoard
from pointsman.signals.pauses import MAX_RETRY_AFTER_S
from pointsman.signals.target_state import Lease
from pointsman.testing import builders
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
        self.board.record(lease, outcome, self.now, POLICY)
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
        self.board.record(lease, Outcome(OutcomeClass.OK), self.now, POLICY)
        assert self.view().breaker is Breaker.CLOSED

    def view(self) -> TargetView:
        return self.board.target_view(TARGET, self.now)


@pytest.mark.case("I3")
@pytest.mark.bug("A-10", "A-14")
class TestPausesOfOneTarget(PausesOfOneTarget.TestCase):  # type: ignore[valid-type,misc]  # made by hypothesis
    settings = settings(max_examples=100, stateful_step_count=30, deadline=None, derandomize=True)
