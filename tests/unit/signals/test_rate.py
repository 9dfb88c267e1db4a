"""How much per second."""

import pytest

from pointsman.signals.rate import Highest, Rate


def steady(rate: Rate, per_s: int, duration_s: int, begin: float = 0.0) -> float:
    """Feeds it; the time at the end."""
    for number in range(per_s * duration_s):
        rate.add(1.0, begin + number / per_s)
    return begin + duration_s


@pytest.mark.parametrize("duration_s", [2, 5, 60])
def test_steady_rate_is_known_after_seconds(duration_s: int) -> None:
    rate = Rate(0.0)

    assert rate.at(steady(rate, 10, duration_s)) == pytest.approx(10, rel=0.1)


def test_rate_is_forgotten_in_silence() -> None:
    rate = Rate(0.0)
    end = steady(rate, 10, 30)

    assert rate.at(end + 10) == pytest.approx(10 / 2.718, rel=0.1)
    assert rate.at(end + 1e6) == 0.0


def test_single_request_is_no_rate() -> None:
    rate = Rate(0.0)
    rate.add(1.0, 0.0)

    assert rate.at(0.0) == 1.0


def test_rate_that_was_always_measured_begins_with_silence() -> None:
    rate = Rate(float("-inf"))

    assert rate.at(5.0) == 0.0
    assert rate.at(steady(rate, 10, 60)) == pytest.approx(10, rel=0.1)


@pytest.mark.case("T49")
def test_clock_that_steps_back_brings_nothing_back() -> None:
    rate = Rate(0.0)
    before = rate.at(steady(rate, 10, 30))

    assert rate.at(-1e9) <= before * 1.1


def test_highest_value_is_that_of_the_last_minutes() -> None:
    highest = Highest(5)
    for minute, value in enumerate((9.0, 3.0, 5.0, 1.0, 1.0)):
        highest.add(value, minute * 60.0)

    assert [highest.at(minute * 60.0) for minute in (4, 5, 6, 7, 9, 99)] == [9.0, 5.0, 5.0, 1.0, 0.0, 0.0]
