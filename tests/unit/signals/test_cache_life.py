"""How long prompts last in a cache."""

import math

import pytest

from pointsman.signals.cache_life import KEPT_FOR_S, CacheLife

NOW = 10_000.0


def learned(late_s: float, *, warm: int, cold: int) -> CacheLife:
    life = CacheLife()
    for was_warm in [True] * warm + [False] * cold:
        life.observe(KEPT_FOR_S + late_s, was_warm=was_warm, now=NOW)
    return life


def test_prompt_is_there_for_the_known_time_and_then_less_and_less_surely() -> None:
    life = CacheLife()

    assert [life.chance(age_s) for age_s in (0.0, KEPT_FOR_S)] == [1.0, 1.0]
    assert life.chance(KEPT_FOR_S + 120.0) == pytest.approx(math.exp(-1))
    assert life.chance(1e9) == 0.0


def test_prompts_that_come_back_warm_make_it_longer_and_lost_ones_shorter() -> None:
    assert learned(600, warm=20, cold=0).tau_s > 1_000
    assert learned(60, warm=0, cold=50).tau_s < 40


@pytest.mark.parametrize("tau_s", [60.0, 240.0, 1_200.0])
def test_true_time_is_found(tau_s: float) -> None:
    late_s, count = 120.0, 2_000
    life, warm = CacheLife(), round(count * math.exp(-late_s / tau_s))
    for index in range(count):
        life.observe(KEPT_FOR_S + late_s, was_warm=index * warm % count < warm, now=NOW)

    assert life.tau_s == pytest.approx(tau_s, rel=0.15)


def test_prompt_within_the_known_time_teaches_nothing() -> None:
    assert learned(0.0, warm=0, cold=9).tau_s == CacheLife().tau_s


def test_what_was_learned_long_ago_is_forgotten() -> None:
    life = learned(600, warm=200, cold=1)

    life.observe(KEPT_FOR_S + 120.0, was_warm=False, now=NOW + 30 * 86_400)

    assert life.tau_s == pytest.approx(120, rel=0.3)


@pytest.mark.parametrize("late_s", [1e-9, 1e9])
@pytest.mark.parametrize("was_warm", [True, False])
def test_extreme_times_leave_a_sane_number(late_s: float, was_warm: bool) -> None:
    life = CacheLife()
    life.observe(KEPT_FOR_S + late_s, was_warm=was_warm, now=NOW)

    assert 0 < life.tau_s < math.inf
    assert 0 <= life.chance(1_000) <= 1


def test_clock_that_steps_back_brings_nothing_back() -> None:
    life = learned(600, warm=5, cold=5)
    life.observe(KEPT_FOR_S + 60, was_warm=True, now=NOW - 5_000)

    assert 0 < life.tau_s < math.inf
