"""The latest peak of a latency."""

import math

import pytest

from pointsman.signals.peak_ewma import PeakEwma

NOW, TAU_S, TYPICAL = 1_000.0, 10.0, 0.3


def of(*samples: float) -> PeakEwma:
    peak = PeakEwma(TAU_S)
    for sample in samples:
        peak.observe(sample, NOW)
    return peak


def test_nothing_is_known_before_the_first_sample() -> None:
    assert of().value_at(NOW, TYPICAL) is None


@pytest.mark.req("G-057")
def test_peak_counts_at_once() -> None:
    assert of(0.3, 5.0).value_at(NOW, TYPICAL) == 5.0


def test_lower_sample_counts_by_the_time_since_the_last_one() -> None:
    peak = of(5.0)

    peak.observe(0.5, NOW + TAU_S)

    kept = math.exp(-1.0)
    assert peak.latest == pytest.approx(kept * 5.0 + (1 - kept) * 0.5)


@pytest.mark.bug("C-14", "P-8")
def test_one_peak_is_nearly_forgotten_after_half_a_minute() -> None:
    assert of(20.0).value_at(NOW + 50.0, TYPICAL) == pytest.approx(TYPICAL, abs=0.2)


def test_silence_leads_to_what_is_typical_and_never_to_zero() -> None:
    assert of(0.1).value_at(NOW + 36_000.0, TYPICAL) == TYPICAL


def test_longer_wait_without_an_answer_is_a_peak() -> None:
    peak = of(0.3)

    peak.at_least(20.0, usual=0.4, now=NOW)

    assert peak.latest == 20.0


@pytest.mark.parametrize("bound", [0.003, 0.25])
def test_short_wait_without_an_answer_tells_nothing(bound: float) -> None:
    peak = of(0.3)

    peak.at_least(bound, usual=0.4, now=NOW + 3_600.0)

    assert peak.latest == 0.3


def test_wait_below_a_peak_that_still_lasts_tells_nothing() -> None:
    peak = of(20.0)

    peak.at_least(5.0, usual=0.4, now=NOW + 1.0)

    assert peak.latest == 20.0


def test_wait_below_a_peak_that_is_long_past_counts() -> None:
    peak = of(20.0)

    peak.at_least(5.0, usual=0.4, now=NOW + 100.0)

    assert peak.value_at(NOW + 100.0, TYPICAL) == 5.0


def test_clock_that_steps_back_lets_no_peak_grow() -> None:
    peak = of(5.0)

    assert peak.value_at(NOW - 100.0, TYPICAL) == 5.0
