"""A mean that forgets."""

import math

import pytest

from pointsman.signals.decayed_mean import DecayedMean

NOW = 1_000.0


def fed(*samples: float, at: float = NOW) -> DecayedMean:
    mean = DecayedMean(half_life_s=300.0)
    for sample in samples:
        mean.observe(sample, at)
    return mean


def test_prior_is_all_there_is_before_any_sample() -> None:
    assert DecayedMean(300.0).value_at(NOW, prior=7.0, mass=3.0) == 7.0
    assert DecayedMean(300.0).value_at(NOW, prior=7.0, mass=0.0) == 7.0


def test_prior_counts_as_so_many_samples() -> None:
    assert fed(4.0, 4.0, 4.0).value_at(NOW, prior=1.0, mass=3.0) == pytest.approx(2.5)


def test_half_of_the_weight_is_left_after_a_half_life() -> None:
    mean = fed(*[4.0] * 6)

    assert mean.weight_at(NOW + 300.0) == pytest.approx(3.0)
    assert mean.value_at(NOW + 300.0, prior=1.0, mass=3.0) == pytest.approx(2.5)


@pytest.mark.bug("P-8")
def test_silence_leads_back_to_the_prior() -> None:
    assert fed(*[4.0] * 99).value_at(NOW + 1e6, prior=1.0, mass=0.0) == 1.0


@pytest.mark.trap("26")
@pytest.mark.bug("C-07")
@pytest.mark.parametrize("sample", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(sample: float) -> None:
    mean = fed(2.0, sample)

    assert (mean.value_at(NOW, 0.0, 0.0), mean.weight_at(NOW)) == (2.0, 1.0)


def test_clock_that_steps_back_changes_nothing() -> None:
    mean = fed(2.0)
    mean.observe(4.0, NOW - 500.0)

    assert mean.value_at(NOW - 900.0, 0.0, 0.0) == pytest.approx(3.0)
    assert mean.weight_at(NOW) == pytest.approx(2.0)
