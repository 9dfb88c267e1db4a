"""How a pause goes on and how it ends."""

import pytest

from pointsman.domain.view import Breaker, PauseCause
from tests.unit.signals.pausing import BEGIN, Outage, paused

FAULTS = ("upstream_fault", "broken_stream", "bad_payload")
NOT_OURS = ("caller_fault", "conflict", "blocked", "caller_gone")
BLAMING = (("credential_fault", PauseCause.CREDENTIAL), ("missing", PauseCause.MISSING))


# --- one outage is one step


@pytest.mark.parametrize("kind", [*FAULTS, "credential_fault", "missing", "rate_limited"])
def test_requests_in_flight_when_the_pause_began_do_not_lengthen_it(kind: str) -> None:
    outage = paused()
    until = outage.pauses.until

    for _ in range(100):
        outage.later(0.1)
        outage.ends(kind, started_at=BEGIN - 5)

    assert outage.pauses.until == until


def test_pause_after_many_failures_in_flight_is_only_the_second_step() -> None:
    outage = paused()
    for _ in range(100):
        outage.ends("upstream_fault", started_at=BEGIN)
    outage.until_half_open()

    outage.ends("upstream_fault")

    assert outage.pause_s == 60


def test_longer_retry_after_of_a_request_in_flight_lengthens_the_pause() -> None:
    outage = paused()

    outage.ends("rate_limited", started_at=BEGIN, retry_after_s=120.0)

    assert outage.pause_s == 120


def test_hold_that_outlasts_a_pause_for_faults_is_what_the_target_now_waits_for() -> None:
    outage = paused()

    outage.ends("rate_limited", started_at=BEGIN, retry_after_s=120.0)

    assert outage.pauses.cause is PauseCause.RATE_LIMIT


@pytest.mark.parametrize("retry_after_s", [None, 0.0, 10.0])
def test_shorter_retry_after_never_shortens_a_pause(retry_after_s: float | None) -> None:
    outage = paused()

    outage.ends("rate_limited", started_at=BEGIN, retry_after_s=retry_after_s)

    assert outage.pause_s == 30


@pytest.mark.parametrize("retry_after_s", [None, 0.0])
def test_late_rate_limit_without_a_time_does_not_disturb_a_recovering_target(retry_after_s: float | None) -> None:
    outage = paused()
    outage.later(35)

    outage.ends("rate_limited", started_at=BEGIN, retry_after_s=retry_after_s)

    assert outage.pauses.until == BEGIN + 30
    assert outage.pauses.cause is PauseCause.FAULTS


@pytest.mark.bug("A-23")
def test_success_that_was_sent_before_the_pause_does_not_end_it() -> None:
    outage = paused()
    outage.later(1)

    outage.ends("ok", started_at=BEGIN - 1)

    assert outage.breaker is Breaker.OPEN


def test_success_that_was_sent_inside_the_pause_ends_it() -> None:
    outage = paused()
    outage.later(5)

    outage.ends("ok", started_at=outage.now - 1)

    assert outage.breaker is Breaker.CLOSED
    assert outage.pauses.cause is None


# --- half-open


@pytest.mark.req("C-07")
@pytest.mark.bug("A-10", "A-14")
def test_every_pause_ends_by_itself_half_open() -> None:
    outage = Outage()
    outage.ends("credential_fault", confirmed=True)

    outage.until_half_open()

    assert outage.breaker is Breaker.HALF_OPEN


def test_pause_is_still_open_just_before_its_deadline() -> None:
    outage = paused()

    outage.later(29.999)

    assert outage.breaker is Breaker.OPEN


def test_successful_probe_closes_and_forgets_the_streak() -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends("ok")
    outage.ends("upstream_fault")
    outage.ends("upstream_fault")

    assert outage.breaker is Breaker.CLOSED
    assert outage.pauses.until == 0


@pytest.mark.parametrize("kind", [*FAULTS, "rate_limited"])
def test_failed_probe_pauses_for_twice_as_long(kind: str) -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends(kind)

    assert outage.breaker is Breaker.OPEN
    assert outage.pause_s == 60


@pytest.mark.parametrize(("kind", "cause"), BLAMING)
def test_probe_that_meets_a_fault_of_ours_pauses_for_the_maximum(kind: str, cause: PauseCause) -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends(kind)

    assert outage.pause_s == 300
    assert outage.pauses.cause is cause


@pytest.mark.bug("A-15")
@pytest.mark.parametrize("kind", NOT_OURS)
def test_probe_that_says_nothing_about_the_target_leaves_it_half_open(kind: str) -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends(kind)

    assert outage.breaker is Breaker.HALF_OPEN


def test_pauses_stay_at_the_maximum_in_a_very_long_outage() -> None:
    outage = paused()

    for _ in range(2_000):
        outage.until_half_open()
        outage.ends("upstream_fault")

    assert outage.pause_s == pytest.approx(300)
