"""What is learned about one target: leases, the probe's permit, who uses it."""

import pytest

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import MARKET, Cooldown
from pointsman.domain.target import Limits
from pointsman.domain.view import Breaker, Limit, PauseCause
from pointsman.signals.target_state import Lease, TargetState
from pointsman.signals.tracks import Tracks
from pointsman.testing import builders
from tests.unit.signals.pausing import Draws

POLICY = Cooldown()


def attempt(
    state: TargetState, kind: str, now: float, *, caller: str = "alice", is_probe: bool = False, **details: object
) -> None:
    lease = state.begin(caller, now, is_probe=is_probe)
    ends(state, lease, now, builders.outcome(kind, **details))


def ends(state: TargetState, lease: Lease, now: float, outcome: Outcome) -> None:
    if state.end(lease, outcome, now):
        state.judge(lease, outcome, now, Draws(), POLICY)


def recovering(now: float = 0.0) -> TargetState:
    """Paused until 30 s later."""
    state = TargetState()
    attempt(state, "rate_limited", now)
    return state


@pytest.mark.case("I3")
@pytest.mark.bug("C-01", "F-02")
def test_in_flight_is_the_number_of_live_leases() -> None:
    state = TargetState()

    leases = [state.begin("alice", 0.0, is_probe=False) for _ in range(3)]
    ends(state, leases[1], 1.0, builders.outcome())

    assert state.in_flight == 2


@pytest.mark.parametrize(("policy", "left"), [(MARKET, 0.0), (POLICY, 5.0)])
def test_what_a_target_was_paused_for_is_forgiven_where_ratios_pause(policy: Cooldown, left: float) -> None:
    """A strategy in money would keep it out for as long again as the failures are remembered."""
    state, facts, now = TargetState(), builders.facts(), 0.0
    state.tracks = Tracks()
    for kind in ["upstream_fault"] * 5 + ["ok"] * 3:
        now = 0.0 if kind != "ok" else now + 400.0
        lease = state.begin("alice", now, is_probe=kind == "ok", facts=facts)
        outcome = builders.outcome(kind, status=200 if kind == "ok" else 500)
        if state.end(lease, outcome, now):
            state.judge(lease, outcome, now, Draws(), policy)

    assert state.is_closed
    failures = state.tracks.failures.at(now)
    assert failures.slow_sum == pytest.approx(left * 2.0 ** (-now / 300.0))


@pytest.mark.bug("C-01")
def test_attempt_cannot_end_twice() -> None:
    state = TargetState()
    lease = state.begin("alice", 0.0, is_probe=False)
    ends(state, lease, 1.0, builders.outcome())

    with pytest.raises(KeyError):
        ends(state, lease, 1.0, builders.outcome())

    assert state.in_flight == 0


def test_new_target_is_closed() -> None:
    assert TargetState().is_closed


def test_view_shows_the_pause() -> None:
    state = recovering()

    view = state.view(10.0)

    assert (view.breaker, view.pause_cause, view.paused_until) == (Breaker.OPEN, PauseCause.RATE_LIMIT, 30.0)
    assert not state.is_closed


@pytest.mark.case("I30")
def test_probe_holds_the_permit_until_it_ends() -> None:
    state = recovering()

    lease = state.begin("alice", 30.0, is_probe=True)
    during = state.view(31.0)
    ends(state, lease, 32.0, builders.outcome())

    assert during.is_probing
    assert state.is_closed


@pytest.mark.parametrize("kind", list(OutcomeClass))
def test_every_outcome_releases_the_permit(kind: OutcomeClass) -> None:
    state = recovering()

    attempt(state, kind, 30.0, is_probe=True)

    assert not state.view(30.0).is_probing


def test_attempt_that_is_no_probe_does_not_release_the_permit() -> None:
    state = recovering()
    other = state.begin("bob", 0.0, is_probe=False)
    state.begin("alice", 30.0, is_probe=True)

    ends(state, other, 31.0, builders.outcome("caller_gone"))

    assert state.view(31.0).is_probing


@pytest.mark.case("I19")
def test_target_that_two_callers_use_is_not_paused_by_one_of_them() -> None:
    state = TargetState()
    attempt(state, "ok", 0.0, caller="bob")

    for second in range(1, 20):
        attempt(state, "missing", second, caller="mallory", confirmed=True)

    assert state.is_closed


@pytest.mark.case("I19")
def test_target_that_its_other_caller_left_ten_minutes_ago_is_no_longer_shared() -> None:
    state = TargetState()
    attempt(state, "ok", 0.0, caller="bob")

    attempt(state, "missing", 601.0, caller="alice", confirmed=True)

    assert not state.is_closed


def test_what_is_left_of_a_providers_limits_is_read_ten_times_a_second() -> None:
    state = TargetState()

    read = [state.wants_limits(now / 100) for now in range(100, 200)]

    assert sum(read) == 10


def test_each_head_is_read_once_little_was_left() -> None:
    state = TargetState()
    attempt(state, "rate_limited", 1.0)

    assert [state.wants_limits(1.0 + now / 1000) for now in range(5)] == [True] * 5


def test_tokens_count_from_the_moment_that_they_are_sent() -> None:
    state = TargetState()
    state.limit_to(Limits(max_tpm=10))

    state.begin("alice", 0.0, is_probe=False, facts=builders.facts(body_bytes=4_000))

    assert state.view(0.0).limit is Limit.MAX_TPM


def test_flagged_target_is_flagged_while_it_is_paused_too() -> None:
    state = recovering()

    assert [state.view(1.0, flagged=flagged).flagged for flagged in (True, False)] == [True, False]
