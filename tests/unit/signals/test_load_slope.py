"""How much slower a target answers the more it has in flight."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.signals.load_slope import MAX_SLOPE, LoadSlope, load_factor, slope_at

NOW = 1_000.0
USUAL_SLOPE = 0.1  # of a target that nobody has seen under load


def fed(
    slope: float, *, loads: tuple[int, ...] = (0, 1, 3, 7, 15, 31), times: int = 20, noise: float = 0.0
) -> LoadSlope:
    """A target whose latency follows a line, seen under all of these loads."""
    found, rng = LoadSlope(), random.Random(7)
    for _ in range(times):
        for in_flight in loads:
            found.observe(0.5 + slope * math.log1p(in_flight) + rng.gauss(0.0, noise), in_flight, NOW)
    return found


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0, 2.0])
def test_slope_of_a_line_is_found_in_spite_of_noise(slope: float) -> None:
    assert slope_at([fed(slope, noise=0.3)], NOW) == pytest.approx(slope, abs=0.12)


def test_target_that_was_never_seen_under_load_has_the_usual_slope() -> None:
    assert slope_at([LoadSlope()], NOW) == pytest.approx(USUAL_SLOPE)
    assert slope_at([fed(2.0, loads=(40,))], NOW) == pytest.approx(USUAL_SLOPE)


def test_few_samples_move_the_slope_a_little_only() -> None:
    assert USUAL_SLOPE < slope_at([fed(1.0, times=1)], NOW) < 0.7


def test_streams_and_whole_answers_make_one_slope_though_one_kind_takes_longer() -> None:
    streams, unary = fed(1.0), LoadSlope()
    for in_flight in (0, 1, 3, 7, 15, 31) * 20:
        unary.observe(3.0 + 1.0 * math.log1p(in_flight), in_flight, NOW)

    assert slope_at([streams, unary], NOW) == pytest.approx(1.0, abs=0.05)


def test_slope_is_forgotten_in_silence() -> None:
    found = fed(2.0)

    assert slope_at([found], NOW + 240.0) > 1.5
    assert slope_at([found], NOW + 7_200.0) == pytest.approx(USUAL_SLOPE, abs=0.01)


def test_slope_never_leaves_its_bounds() -> None:
    assert slope_at([fed(9.0)], NOW) == MAX_SLOPE
    assert slope_at([fed(-3.0)], NOW) == 0.0


@given(
    samples=st.lists(st.tuples(st.floats(-8.0, 8.0), st.integers(0, 5_000), st.floats(0.0, 4_000.0)), max_size=60),
    later_s=st.floats(-100.0, 1e7),
)
def test_slope_is_finite_and_bounded_whatever_was_seen_and_wherever_the_clock_steps(
    samples: list[tuple[float, int, float]], later_s: float
) -> None:
    found, now = LoadSlope(), NOW
    for log_latency, in_flight, gap_s in samples:
        now += gap_s
        found.observe(log_latency, in_flight, now)

    assert 0.0 <= slope_at([found], now + later_s) <= MAX_SLOPE


@given(slope=st.floats(0.0, MAX_SLOPE), mean_load=st.floats(0.0, 10.0), in_flight=st.integers(0, 100_000))
def test_load_makes_a_target_slower_but_never_absurdly_so(slope: float, mean_load: float, in_flight: int) -> None:
    factor = load_factor(slope, mean_load, in_flight)

    assert math.exp(-0.7) <= factor <= math.exp(3.0)
    assert load_factor(slope, mean_load, in_flight + 1) >= factor


def test_at_the_load_that_it_was_learned_at_a_latency_stays_as_it_is() -> None:
    assert load_factor(1.3, math.log1p(7), 7) == pytest.approx(1.0)
    assert load_factor(1.0, math.log1p(7), 15) == pytest.approx(2.0)
