"""How many may be paused at once."""

import pytest

from pointsman.domain.policy import MARKET, Ejection
from pointsman.domain.view import Breaker, PauseCause, TargetView
from pointsman.signals.ejection import Budget, with_overflow
from pointsman.signals.target_state import TargetState
from pointsman.signals.tracks import Tracks
from pointsman.testing import builders
from tests.unit.signals.pausing import Draws
from tests.unit.signals.test_target_state import attempt

NOW, POLICY = 1_000.0, Ejection()
PAUSED = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=NOW + 10)


def serving(times: int, at: float = NOW) -> TargetState:
    state = TargetState()
    state.tracks = Tracks()
    for _ in range(times):
        lease = state.begin("alice", at, is_probe=False, facts=builders.facts())
        state.end(lease, builders.outcome(status=200), at)
    return state


def test_first_pause_is_allowed_while_another_one_serves() -> None:
    assert not Budget().is_needed("a", {"a": serving(99), "b": serving(1)}, NOW, POLICY)


def test_first_pause_is_allowed_while_another_one_was_not_tried() -> None:
    assert not Budget().is_needed("a", {"a": serving(99), "b": None}, NOW, POLICY)


@pytest.mark.req("O-011")
def test_single_target_is_needed() -> None:
    assert Budget().is_needed("a", {"a": serving(9)}, NOW, POLICY)


def test_first_pause_is_refused_if_nobody_has_served_for_a_minute() -> None:
    assert Budget().is_needed("a", {"a": serving(9), "b": serving(9, NOW - 61)}, NOW, POLICY)


@pytest.mark.parametrize(("times", "is_needed"), [(10, False), (60, True)])
def test_later_pauses_may_take_half_of_the_traffic_there_was(times: int, *, is_needed: bool) -> None:
    budget, states = Budget(), {"a": serving(30), "b": serving(times), "c": serving(50)}
    assert not budget.is_needed("a", states, NOW, POLICY)

    attempt(states["a"], "credential_fault", NOW, confirmed=True)

    assert budget.is_needed("b", states, NOW, POLICY) == is_needed


@pytest.mark.parametrize(("live_gate", "gate"), [(1.0, None), (0.5, None), (0.3, 0.2), (0.495, 0.02)])
def test_paused_target_gets_what_the_live_ones_cannot_carry(live_gate: float, gate: float | None) -> None:
    _, paused = with_overflow([builders.view(gate=live_gate), PAUSED], [None, None], POLICY)

    assert paused == PAUSED if gate is None else (paused.is_readmitted, paused.gate) == (True, pytest.approx(gate))


def test_spared_target_does_not_count_as_live() -> None:
    spared = TargetState()
    for _ in range(5):
        lease = spared.begin("alice", NOW, is_probe=False)
        outcome = builders.outcome("upstream_fault")
        spared.end(lease, outcome, NOW)
        spared.judge(lease, outcome, NOW, Draws(), MARKET, is_needed=True)

    _, paused = with_overflow([builders.view(), PAUSED], [spared, None], POLICY)

    assert (paused.is_readmitted, paused.gate) == (True, 0.5)


def test_target_that_only_fails_is_not_readmitted_any_longer() -> None:
    spent = TargetState()
    for _ in range(2 * MARKET.fault_threshold):
        lease = spent.begin("alice", NOW, is_probe=False)
        outcome = builders.outcome("upstream_fault")
        spent.end(lease, outcome, NOW)
        spent.judge(lease, outcome, NOW, Draws(), MARKET)

    assert with_overflow([PAUSED], [spent], POLICY) == (PAUSED,)


@pytest.mark.parametrize("cause", [PauseCause.RATE_LIMIT, PauseCause.CREDENTIAL, PauseCause.MISSING])
def test_pause_that_time_alone_ends_is_not_lifted(cause: PauseCause) -> None:
    held: TargetView = builders.view(breaker=Breaker.OPEN, pause_cause=cause, paused_until=NOW + 10)

    assert with_overflow([held], [None], POLICY) == (held,)
