"""How long one target takes with next to nothing in flight."""

import math

import pytest

from pointsman.signals.light_load import LightLoad

NOW = 1_000.0
SLOW = 2.0  # ln of times as long as usual: an engine without a fast processor


def seen(log_latency: float, in_flight: int = 2, times: int = 200) -> LightLoad:
    light = LightLoad()
    for _ in range(times):
        light.observe(log_latency, in_flight, NOW)
    return light


def test_it_lies_on_the_line_through_what_was_seen_at_any_load() -> None:
    assert LightLoad().log_at(NOW, 2.0, math.log1p(31), 1.0) == pytest.approx(2.0 - math.log(8))


def test_what_is_much_slower_than_usual_counts_as_overload_until_the_target_was_seen_at_light_load() -> None:
    assert LightLoad().log_at(NOW, SLOW, math.log1p(3), 0.0) == pytest.approx(0.8)


def test_target_that_is_slow_by_nature_is_measured_by_itself() -> None:
    assert seen(SLOW).log_at(NOW, 3.0, math.log1p(31), 0.3) == pytest.approx(SLOW, abs=0.05)


def test_attempts_under_load_say_nothing_of_light_load() -> None:
    assert seen(SLOW, in_flight=4).log_at(NOW, 3.0, math.log1p(31), 0.3) == pytest.approx(0.8)


def test_what_was_seen_is_forgotten_within_hours() -> None:
    assert seen(SLOW).log_at(NOW + 10 * 3_600.0, 3.0, math.log1p(31), 0.3) == pytest.approx(0.8, abs=0.01)
