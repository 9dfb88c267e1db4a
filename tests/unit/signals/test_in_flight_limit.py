"""How many attempts in flight a target takes before it slows down too much."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.signals.in_flight_limit import InFlightLimit

SLOPE = 1.0
SLOW = 2.0  # ln of times as long as usual: 7 times
USUAL = 0.1
AT_SLOPE_1 = 4 * 2.5 - 1  # in flight, where a line of this slope has made it 2.5 times as slow as with 3


def answer(
    limit: InFlightLimit,
    log_latency: float,
    in_flight: int,
    now: float,
    *,
    usual_log: float | None = None,
    light: float = 0.0,
    slope: float = SLOPE,
    began_at: float | None = None,
) -> None:
    """An attempt that took a second; the last seconds were like it unless they are told."""
    limit.answered(
        log_latency,
        log_latency if usual_log is None else usual_log,
        light,
        slope=slope,
        in_flight=in_flight,
        began_at=now - 1.0 if began_at is None else began_at,
        now=now,
    )


def cut(in_flight: int = 30, *, slope: float = SLOPE) -> InFlightLimit:
    limit = InFlightLimit()
    answer(limit, SLOW, in_flight, 10.0, slope=slope)
    return limit


def test_there_is_no_limit_until_load_slows_a_target_down() -> None:
    limit = InFlightLimit()
    answer(limit, USUAL, 100, 10.0)

    assert not limit.is_known
    assert limit.gate(SLOPE, 10_000) == 1.0


@pytest.mark.parametrize(
    ("in_flight", "slope", "limit"),
    [(30, 1.0, 0.9 * AT_SLOPE_1), (6, 1.0, 5.4), (30, 2.5, 0.9 * (4 * 2.5**0.4 - 1)), (200, 0.5, 0.9 * 24.0)],
)
def test_first_limit_is_a_tenth_below_the_load_and_below_what_the_slope_says(
    in_flight: int, slope: float, limit: float
) -> None:
    assert cut(in_flight, slope=slope).at(slope) == pytest.approx(limit)


def test_limit_never_falls_below_four() -> None:
    limit = cut(5)
    for second in range(20, 60):
        limit.timed_out(9, second - 0.5, float(second))

    assert limit.at(SLOPE) == 4.0


def test_target_that_is_slow_without_load_gets_no_limit() -> None:
    limit = InFlightLimit()
    answer(limit, SLOW, 4, 10.0)
    answer(limit, SLOW, 100, 20.0, slope=0.29)

    assert not limit.is_known


@pytest.mark.parametrize(("log_latency", "is_slow"), [(1.5 + 0.91, False), (1.5 + 0.92, True)])
def test_two_and_a_half_times_the_latency_at_light_load_is_too_slow(log_latency: float, is_slow: bool) -> None:
    limit = InFlightLimit()

    answer(limit, log_latency, 30, 10.0, light=1.5)

    assert limit.is_known is is_slow


def test_limit_that_the_group_cannot_keep_is_not_cut_any_further() -> None:
    """A lower one would not send less: the others are full, too."""
    limit = cut()
    before = limit.at(SLOPE)

    answer(limit, SLOW, 30, 12.0)
    assert limit.at(SLOPE) == before

    answer(limit, SLOW, 8, 13.0)
    assert limit.at(SLOPE) == pytest.approx(0.9 * 8)


def test_attempts_that_began_before_a_cut_never_cut_again() -> None:
    limit = cut()
    before = limit.at(SLOPE)
    for _ in range(50):
        answer(limit, SLOW, 8, 10.5, began_at=9.9)
    assert limit.at(SLOPE) == before

    answer(limit, SLOW, 8, 12.0, began_at=10.1)
    assert limit.at(SLOPE) == pytest.approx(0.9 * 8)


def test_memory_of_a_burst_does_not_cut_when_the_attempt_itself_was_quick() -> None:
    limit = cut()
    before = limit.at(SLOPE)

    answer(limit, USUAL, 8, 12.0, usual_log=SLOW)

    assert limit.at(SLOPE) == before


def test_limit_that_is_used_without_harm_grows_by_a_tenth_and_one() -> None:
    limit = cut()

    answer(limit, USUAL, 7, 12.0)

    assert limit.at(SLOPE) == pytest.approx(1.1 * 0.9 * AT_SLOPE_1 + 1.0)


@pytest.mark.trap("27")
def test_limit_that_nobody_comes_near_does_not_grow() -> None:
    limit = cut()

    answer(limit, USUAL, 5, 12.0)

    assert limit.at(SLOPE) == pytest.approx(0.9 * AT_SLOPE_1)


def test_timeout_among_many_narrows_the_limit_and_one_among_few_does_not() -> None:
    limit = cut()
    limit.timed_out(8, 11.0, 31.0)
    assert limit.at(SLOPE) == pytest.approx(0.9 * AT_SLOPE_1)

    limit.timed_out(9, 11.0, 31.0)
    assert limit.at(SLOPE) == pytest.approx(0.9 * 0.9 * AT_SLOPE_1)


def test_timeouts_alone_teach_no_limit() -> None:
    limit = InFlightLimit()

    limit.timed_out(100, 1.0, 21.0)

    assert not limit.is_known


def test_limit_of_a_target_that_cares_no_more_for_load_is_forgotten() -> None:
    limit = cut()
    assert limit.at(0.29) == math.inf

    answer(limit, USUAL, 20, 12.0, slope=0.29)
    assert not limit.is_known


@pytest.mark.parametrize(("part", "gate"), [(0.5, 1.0), (0.9, 1.0), (1.0, 0.51), (1.1, 0.02), (9.0, 0.02)])
def test_gate_narrows_around_the_limit_to_a_trickle(part: float, gate: float) -> None:
    limit = InFlightLimit()
    answer(limit, SLOW, 1_112, 10.0, slope=0.3)
    in_flight = round(part * limit.at(0.3))

    assert limit.gate(0.3, in_flight) == pytest.approx(gate, abs=0.06)


@given(
    samples=st.lists(
        st.tuples(st.floats(-8, 8), st.floats(-8, 8), st.integers(0, 5_000), st.floats(0, 2.5)), max_size=60
    )
)
def test_limit_and_gate_stay_in_their_bounds_whatever_happens(
    samples: list[tuple[float, float, int, float]],
) -> None:
    limit = InFlightLimit()
    for second, (log_latency, usual_log, in_flight, slope) in enumerate(samples):
        answer(limit, log_latency, in_flight, float(second), usual_log=usual_log, slope=slope)

        assert limit.at(slope) >= 4.0
        assert 0.02 <= limit.gate(slope, in_flight) <= 1.0
