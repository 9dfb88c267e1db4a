"""Pauses by the preset of strategies that weigh targets by money: short, and never more than needed."""

import pytest

from pointsman.domain.policy import MARKET, STRICT, Cooldown
from pointsman.domain.view import Breaker, PauseCause
from tests.unit.signals.pausing import BEGIN, Outage


def paused() -> Outage:
    """Five faults in a row: 10 s."""
    outage = Outage(MARKET)
    for _ in range(5):
        outage.ends("upstream_fault")
    return outage


@pytest.mark.req("O-010")
def test_five_faults_in_a_row_pause_for_ten_seconds() -> None:
    outage = Outage(MARKET)
    for _ in range(4):
        outage.ends("upstream_fault")
    before = outage.breaker

    outage.ends("upstream_fault")

    assert (before, outage.breaker, outage.pause_s) == (Breaker.CLOSED, Breaker.OPEN, 10)


def test_pauses_double_from_ten_seconds_to_five_minutes() -> None:
    outage, lengths_s = paused(), []

    for _ in range(7):
        lengths_s.append(round(outage.pause_s, 6))
        outage.until_half_open()
        outage.ends("upstream_fault")

    assert lengths_s == [10, 20, 40, 80, 160, 300, 300]


@pytest.mark.req("O-010")
@pytest.mark.bug("A-10", "A-14")
def test_three_probes_have_to_succeed() -> None:
    outage = paused()
    outage.until_half_open()
    seen = []

    for _ in range(3):
        outage.ends("ok")
        seen.append(outage.breaker)

    assert seen == [Breaker.HALF_OPEN, Breaker.HALF_OPEN, Breaker.CLOSED]


def test_failed_probe_after_good_ones_pauses_again_and_they_count_no_more() -> None:
    outage = paused()
    outage.until_half_open()
    for kind in ("ok", "ok", "upstream_fault"):
        outage.ends(kind)
    again_s = outage.pause_s
    outage.until_half_open()

    outage.ends("ok")

    assert (again_s, outage.breaker) == (20, Breaker.HALF_OPEN)


# --- rate limits


@pytest.mark.bug("A-09")
@pytest.mark.case("T40")
@pytest.mark.parametrize(
    ("retry_after_s", "pause_s"), [(1.0, 1), (45.0, 45), (1e12, 300), (None, None), (0.0, None), (-5.0, None)]
)
def test_rate_limit_pauses_for_exactly_as_long_as_the_provider_says(
    retry_after_s: float | None, pause_s: float | None
) -> None:
    outage = Outage(MARKET)

    outage.ends("rate_limited", retry_after_s=retry_after_s)

    assert (outage.pause_s if outage.breaker is Breaker.OPEN else None) == pause_s


def test_hold_is_no_step_of_an_outage() -> None:
    outage = Outage(MARKET)
    for _ in range(3):
        outage.ends("rate_limited", retry_after_s=1.0)
        outage.until_half_open()
        for _ in range(3):
            outage.ends("ok")

    for _ in range(5):
        outage.ends("upstream_fault")

    assert outage.pause_s == 10


@pytest.mark.parametrize(("retry_after_s", "pause_s"), [(None, 20), (90.0, 90)])
def test_rate_limit_fails_a_probe(retry_after_s: float | None, pause_s: float) -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends("rate_limited", retry_after_s=retry_after_s)

    assert (outage.breaker, outage.pause_s) == (Breaker.OPEN, pause_s)
    assert outage.pauses.cause is (PauseCause.RATE_LIMIT if retry_after_s else PauseCause.FAULTS)


@pytest.mark.req("O-014")
def test_rate_limits_without_a_word_pause_only_an_outlier() -> None:
    outage = Outage(MARKET)
    for _ in range(100):
        outage.ends("rate_limited")
    before = outage.breaker

    outage.ends("rate_limited", is_outlier=True)

    assert (before, outage.pauses.cause) == (Breaker.CLOSED, PauseCause.OUTLIER)


# --- who is needed


@pytest.mark.req("O-011")
def test_target_that_is_needed_is_spared() -> None:
    outage = Outage(MARKET)

    for _ in range(50):
        outage.ends("upstream_fault", is_needed=True)

    assert (outage.breaker, outage.pauses.is_spared) == (Breaker.CLOSED, True)


def test_success_ends_the_sparing() -> None:
    outage = Outage(MARKET)
    for _ in range(5):
        outage.ends("upstream_fault", is_needed=True)

    outage.ends("ok")

    assert not outage.pauses.is_spared
    assert outage.pauses.is_spotless


def test_paused_target_stays_paused_although_it_is_needed() -> None:
    outage = paused()
    outage.until_half_open()

    outage.ends("upstream_fault", is_needed=True)

    assert outage.breaker is Breaker.OPEN


@pytest.mark.case("T47")
@pytest.mark.parametrize("kind", ["credential_fault", "missing"])
def test_confirmed_fault_of_ours_pauses_whoever_is_needed(kind: str) -> None:
    outage = Outage(MARKET)

    outage.ends(kind, confirmed=True, is_needed=True)

    assert (outage.breaker, outage.pause_s) == (Breaker.OPEN, 300)


# --- asked in spite of a pause


def test_paused_target_that_fails_five_times_more_is_spent_until_its_pause_ends() -> None:
    outage, seen = paused(), []

    for _ in range(5):
        outage.later(1)
        outage.ends("upstream_fault")
        seen.append(outage.pauses.is_spent)
    outage.until_half_open()
    outage.ends("upstream_fault")

    assert seen == [False, False, False, False, True]
    assert not outage.pauses.is_spent


def test_success_in_spite_of_a_pause_shows_that_the_target_is_not_spent() -> None:
    outage = paused()
    outage.later(1)
    for kind in (*["upstream_fault"] * 5, "ok", "upstream_fault"):
        outage.ends(kind)

    assert not outage.pauses.is_spent
    assert outage.breaker is Breaker.OPEN


def test_requests_that_were_sent_before_the_pause_say_nothing_about_it() -> None:
    outage = paused()
    outage.later(1)

    for _ in range(20):
        outage.ends("upstream_fault", started_at=BEGIN - 1)

    assert not outage.pauses.is_spent


# --- slow start


@pytest.mark.trap("29")
@pytest.mark.parametrize(("policy", "successes"), [(STRICT, 1), (MARKET, 3)])
def test_recovered_target_begins_with_a_tenth_of_its_traffic(policy: Cooldown, successes: int) -> None:
    outage, gates = Outage(policy), []
    outage.ends("credential_fault", confirmed=True)
    outage.until_half_open()
    for _ in range(successes):
        outage.ends("ok")

    for _ in range(3):
        gates.append(outage.pauses.gate(outage.now))
        outage.later(10)

    assert gates == pytest.approx([0.1, 0.55, 1.0])


def test_slow_start_is_never_longer_than_the_pause_was() -> None:
    outage = Outage(Cooldown(base_s=2.0))
    outage.ends("rate_limited")
    outage.until_half_open()
    outage.ends("ok")

    outage.later(2)

    assert outage.pauses.gate(outage.now) == 1.0


def test_target_is_spotless_again_after_its_slow_start() -> None:
    outage = Outage()
    outage.ends("rate_limited")
    outage.until_half_open()
    outage.ends("ok")
    before = outage.pauses.is_spotless
    outage.later(20)

    outage.ends("ok")

    assert (before, outage.pauses.is_spotless) == (False, True)
