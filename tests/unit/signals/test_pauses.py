"""What pauses a target."""

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import Cooldown
from pointsman.domain.view import Breaker, PauseCause
from pointsman.signals.pauses import PROBE_PATIENCE_S
from tests.unit.signals.pausing import Outage, paused

FAULTS = ("upstream_fault", "broken_stream", "bad_payload")
NOT_OURS = ("caller_fault", "conflict", "blocked", "caller_gone")
BLAMING = (("credential_fault", PauseCause.CREDENTIAL), ("missing", PauseCause.MISSING))


# --- faults in a row


@pytest.mark.req("G-060")
@pytest.mark.bug("A-04")
@pytest.mark.parametrize("fault", FAULTS)
def test_three_faults_in_a_row_pause_for_thirty_seconds(fault: str) -> None:
    outage = Outage()

    for _ in range(3):
        outage.later(5)
        outage.ends(fault)

    assert outage.breaker is Breaker.OPEN
    assert outage.pauses.cause is PauseCause.FAULTS
    assert outage.pause_s == 30


@pytest.mark.bug("A-06")
@pytest.mark.parametrize("fault", FAULTS)
def test_two_faults_in_a_row_do_not_pause(fault: str) -> None:
    outage = Outage()

    outage.ends(fault)
    outage.ends(fault)

    assert outage.breaker is Breaker.CLOSED


@pytest.mark.req("G-060")
def test_success_resets_the_streak() -> None:
    outage = Outage()

    for kind in ("upstream_fault", "upstream_fault", "ok", "upstream_fault", "upstream_fault"):
        outage.ends(kind)

    assert outage.breaker is Breaker.CLOSED


def test_faults_of_different_kinds_make_one_streak() -> None:
    outage = Outage()

    for kind in FAULTS:
        outage.ends(kind)

    assert outage.breaker is Breaker.OPEN


@pytest.mark.bug("A-07", "C-13")
@pytest.mark.parametrize("kind", NOT_OURS)
def test_what_is_about_the_request_never_pauses(kind: str) -> None:
    outage = Outage()

    for number in range(50):
        outage.ends(kind, caller=f"caller-{number % 3}")

    assert outage.breaker is Breaker.CLOSED


@pytest.mark.parametrize("kind", NOT_OURS)
def test_what_is_about_the_request_does_not_break_a_streak(kind: str) -> None:
    outage = Outage()

    for end in ("upstream_fault", "upstream_fault", kind, "upstream_fault"):
        outage.ends(end)

    assert outage.breaker is Breaker.OPEN


def test_threshold_is_the_policys() -> None:
    outage = Outage(Cooldown(fault_threshold=1))

    outage.ends("upstream_fault")

    assert outage.breaker is Breaker.OPEN


def test_every_class_of_outcome_is_understood() -> None:
    for kind in OutcomeClass:
        outage = Outage()

        outage.ends(kind)

        assert outage.breaker in set(Breaker)


# --- rate limits


@pytest.mark.req("G-058")
def test_rate_limits_pause_at_once_for_30_60_120_240_300_300_seconds() -> None:
    outage = Outage()
    lengths_s = []

    for _ in range(6):
        outage.ends("rate_limited")
        lengths_s.append(outage.pause_s)
        outage.until_half_open()

    assert lengths_s == [30, 60, 120, 240, 300, 300]
    assert outage.pauses.cause is PauseCause.RATE_LIMIT


@pytest.mark.case("T40")
@pytest.mark.trap("25")
@pytest.mark.parametrize(
    ("retry_after_s", "pause_s"),
    [(None, 30), (0.0, 30), (5.0, 30), (45.0, 45), (300.0, 300), (3600.0, 300), (1e12, 300), (-5.0, 30)],
)
def test_retry_after_can_only_lengthen_a_pause_and_to_five_minutes_at_most(
    retry_after_s: float | None, pause_s: float
) -> None:
    outage = Outage()

    outage.ends("rate_limited", retry_after_s=retry_after_s)

    assert outage.pause_s == pause_s


@pytest.mark.bug("A-17")
@pytest.mark.parametrize(("draw", "pause_s"), [(0.0, 30.0), (0.5, 33.0), (1.0, 36.0)])
def test_jitter_goes_upward_only(draw: float, pause_s: float) -> None:
    outage = Outage(draw=draw)

    outage.ends("rate_limited")

    assert outage.pause_s == pytest.approx(pause_s)


@pytest.mark.case("T40")
def test_jitter_never_undercuts_a_retry_after() -> None:
    outage = Outage(draw=0.999)

    outage.ends("rate_limited", retry_after_s=200.0)

    assert 200 <= outage.pause_s <= 240


def test_success_between_rate_limits_starts_the_doubling_anew() -> None:
    outage = Outage()
    outage.ends("rate_limited")
    outage.until_half_open()
    outage.ends("ok")

    outage.ends("rate_limited")

    assert outage.pause_s == 30


@pytest.mark.bug("B-01")
def test_second_rate_limit_is_held_for_its_own_longer_retry_after() -> None:
    outage = Outage(Cooldown(base_s=1.0))
    outage.ends("rate_limited", retry_after_s=4.0)
    outage.until_half_open()

    outage.ends("rate_limited", retry_after_s=107.0)

    assert outage.pause_s == 107


# --- our credentials, our model names


@pytest.mark.req("G-059")
@pytest.mark.case("T47")
@pytest.mark.parametrize(("kind", "cause"), BLAMING)
def test_fault_that_the_providers_code_confirms_pauses_for_the_maximum_at_once(kind: str, cause: PauseCause) -> None:
    outage = Outage()

    outage.ends(kind, confirmed=True)

    assert outage.pause_s == 300
    assert outage.pauses.cause is cause


@pytest.mark.req("G-059")
@pytest.mark.case("T47")
@pytest.mark.parametrize(("kind", "cause"), BLAMING)
def test_fault_of_ours_pauses_for_the_maximum_when_two_callers_meet_it_within_a_minute(
    kind: str, cause: PauseCause
) -> None:
    outage = Outage(shared=True)

    outage.ends(kind, caller="alice")
    outage.later(59)
    outage.ends(kind, caller="bob")

    assert outage.pause_s == 300
    assert outage.pauses.cause is cause


@pytest.mark.parametrize(("kind", "_"), BLAMING)
def test_two_callers_more_than_a_minute_apart_confirm_nothing(kind: str, _: PauseCause) -> None:
    outage = Outage(shared=True)

    outage.ends(kind, caller="alice")
    outage.later(61)
    outage.ends(kind, caller="bob")

    assert outage.breaker is Breaker.CLOSED


@pytest.mark.parametrize(("kind", "_"), BLAMING)
def test_one_caller_who_has_the_target_alone_confirms_with_three_in_a_row(kind: str, _: PauseCause) -> None:
    outage = Outage(shared=False)

    outage.ends(kind)
    outage.ends(kind)
    before = outage.breaker
    outage.ends(kind)

    assert (before, outage.breaker) == (Breaker.CLOSED, Breaker.OPEN)


@pytest.mark.case("I19", "T45")
@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("kind", ["credential_fault", "missing", "bad_payload"])
def test_one_caller_alone_never_pauses_a_shared_target(kind: str, *, confirmed: bool) -> None:
    outage = Outage(shared=True)

    for _ in range(50):
        outage.later(1)
        outage.ends(kind, caller="mallory", confirmed=confirmed)

    assert outage.breaker is Breaker.CLOSED


@pytest.mark.case("I19")
@pytest.mark.parametrize("kind", ["upstream_fault", "broken_stream"])
def test_faults_of_the_wire_count_from_any_caller_also_on_a_shared_target(kind: str) -> None:
    outage = Outage(shared=True)

    for _ in range(3):
        outage.ends(kind, caller="alice")

    assert outage.breaker is Breaker.OPEN


def test_bad_payloads_that_two_callers_met_pause_a_shared_target() -> None:
    outage = Outage(shared=True)

    for name in ("alice", "alice", "bob"):
        outage.ends("bad_payload", caller=name)

    assert outage.breaker is Breaker.OPEN


def test_success_clears_the_suspicion_against_our_credential() -> None:
    outage = Outage(shared=True)
    outage.ends("credential_fault", caller="alice")
    outage.ends("ok", caller="alice")

    outage.ends("credential_fault", caller="bob")

    assert outage.breaker is Breaker.CLOSED


@pytest.mark.req("G-086")
def test_pauses_are_counted_by_cause() -> None:
    outage = paused()
    outage.until_half_open()
    outage.ends("rate_limited")
    outage.ends("rate_limited")

    assert outage.pauses.begun == {PauseCause.FAULTS: 1, PauseCause.RATE_LIMIT: 1}


def test_probe_is_overdue_only_after_some_patience() -> None:
    outage = paused()

    seen = [
        outage.pauses.is_probe_overdue(outage.pauses.until + late_s)
        for late_s in (-PROBE_PATIENCE_S, 0.0, PROBE_PATIENCE_S)
    ]

    assert seen == [False, False, True]


def test_new_target_is_neither_spared_nor_spent() -> None:
    pauses = Outage().pauses

    assert (pauses.is_spared, pauses.is_spent) == (False, False)
