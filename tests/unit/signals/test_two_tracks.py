"""Sums that forget, toward a prior, on two tracks."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.signals.two_tracks import NOTHING, Sums, TwoTracks

NOW = 1_000.0


def of(*samples: float) -> TwoTracks:
    tracks = TwoTracks(slow_half_life_s=100.0, fast_half_life_s=10.0)
    for sample in samples:
        tracks.observe(sample, NOW)
    return tracks


def test_without_samples_only_the_prior_counts() -> None:
    sums = of().at(NOW)

    assert (sums.slow(7.0, 2.0), sums.fast(8.0, 2.0)) == (7.0, 8.0)


def test_prior_counts_as_so_many_samples() -> None:
    sums = of(1.0, 3.0).at(NOW)

    assert (sums.slow(8.0, 2.0), sums.fast(2.0, 8.0)) == (5.0, 2.0)


def test_each_track_loses_half_of_its_weight_in_its_half_life() -> None:
    assert of(4.0, 4.0).at(NOW + 10.0) == Sums(2.0 * 0.5**0.1, 8.0 * 0.5**0.1, 1.0, 4.0)
    assert of(4.0, 4.0).at(NOW + 100.0).slow_weight == 1.0


@pytest.mark.trap("3")
@pytest.mark.bug("P-8")
def test_hours_of_silence_lead_back_to_the_prior_and_not_to_zero() -> None:
    assert of(100.0).at(NOW + 36_000.0).slow(3.0, 5.0) == 3.0


@pytest.mark.trap("12")
def test_nothing_is_left_of_sums_below_what_can_be_divided_by() -> None:
    assert of(1.0).at(NOW + 10_000.0) is NOTHING


@pytest.mark.trap("12")
def test_clock_that_steps_back_brings_nothing_back_and_forgets_nothing() -> None:
    tracks = of(2.0)

    tracks.observe(4.0, NOW - 500.0)

    assert tracks.at(NOW) == Sums(2.0, 6.0, 2.0, 6.0)


def test_reading_changes_nothing() -> None:
    tracks = of(2.0)

    tracks.at(NOW + 1e9)

    assert tracks.at(NOW) == Sums(1.0, 2.0, 1.0, 2.0)


@given(steps=st.lists(st.tuples(st.floats(-1e3, 1e9), st.floats(-10, 10)), max_size=30), prior=st.floats(-10, 10))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_means_stay_between_the_samples_and_the_prior(steps: list[tuple[float, float]], prior: float) -> None:
    tracks, now = TwoTracks(slow_half_life_s=180.0, fast_half_life_s=15.0), NOW
    for gap_s, sample in steps:
        now += gap_s
        tracks.observe(sample, now)

    sums = tracks.at(now)

    seen = [prior, *(sample for _, sample in steps)]
    for value in (sums.slow(prior, 5.0), sums.fast(prior, 3.0)):
        assert math.isfinite(value)
        assert min(seen) - 1e-6 <= value <= max(seen) + 1e-6
