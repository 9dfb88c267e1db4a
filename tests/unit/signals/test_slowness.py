"""How many times slower than usual."""

import math

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.usual import usual_ttft_s, usual_unary_s
from pointsman.signals.slowness import Slowness, patient_s, slowness_at, usual_s
from pointsman.testing import builders

NOW, USUAL_S = 1_000.0, 0.5
STREAM = builders.facts(stream=True, body_bytes=4_000)
UNARY = builders.facts(body_bytes=4_000)


def of(*times_s: float, gap_s: float = 1.0) -> tuple[Slowness, float]:
    """A slowness fed with so many times, and the time of the last one."""
    slowness, now = Slowness(), NOW
    for time_s in times_s:
        now += gap_s
        slowness.observe(time_s, USUAL_S, now)
    return slowness, now


def value(slowness: Slowness, now: float, prior: float) -> float:
    """Ln of how many times as long as usual it takes."""
    return math.log(slowness_at(slowness.tracks.at(now), prior))


def test_usual_target_is_neither_slow_nor_fast() -> None:
    slowness, now = of(*[USUAL_S] * 20)

    assert value(slowness, now, 0.0) == pytest.approx(0.0)
    assert slowness.samples == 20


def test_target_that_takes_twice_as_long_comes_near_the_logarithm_of_two() -> None:
    slowness, now = of(*[2 * USUAL_S] * 200, gap_s=0.1)

    assert value(slowness, now, 0.0) == pytest.approx(math.log(2), rel=0.05)


@pytest.mark.bug("C-14")
def test_one_huge_outlier_moves_a_settled_target_by_less_than_half() -> None:
    slowness, now = of(*[USUAL_S] * 50)

    slowness.observe(600.0, USUAL_S, now)

    assert value(slowness, now, 0.0) < math.log(1.5)


def test_slow_down_is_seen_within_ten_seconds() -> None:
    slowness, now = of(*[USUAL_S] * 100)

    for _ in range(9):
        now += 1.0
        slowness.observe(10 * USUAL_S, USUAL_S, now)

    assert value(slowness, now, 0.0) > math.log(1.49)


@pytest.mark.trap("19")
def test_noise_does_not_ratchet_the_fast_track() -> None:
    slowness, now = of(*[USUAL_S * 1.3, USUAL_S / 1.3] * 50, gap_s=0.5)

    assert value(slowness, now, 0.0) == pytest.approx(0.0, abs=0.1)


def test_single_burst_of_two_slow_answers_is_no_slow_down() -> None:
    slowness, now = of(*[USUAL_S] * 100, gap_s=10.0)

    slowness.observe(5 * USUAL_S, USUAL_S, now)

    assert value(slowness, now, 0.0) < 0.4


@pytest.mark.bug("P-8")
def test_silent_target_returns_to_what_is_usual_in_its_group() -> None:
    slowness, now = of(*[40.0] * 20)

    assert value(slowness, now + 7_200.0, 0.7) == pytest.approx(0.7, abs=1e-3)


@pytest.mark.bug("C-13")
def test_wait_that_was_cut_off_counts_if_it_was_long() -> None:
    slowness, now = of(*[USUAL_S] * 5)

    slowness.at_least(20.0, USUAL_S, now)

    assert slowness.samples == 6


@pytest.mark.bug("C-06")
@pytest.mark.parametrize("fed", [0, 5])
def test_wait_that_was_cut_off_soon_never_makes_a_target_look_fast(fed: int) -> None:
    slowness, now = of(*[USUAL_S] * fed)

    slowness.at_least(0.003, USUAL_S, now)

    assert slowness.samples == fed


def test_long_prompts_do_not_make_a_target_look_slow() -> None:
    short = usual_s(STREAM, Usage(input_tokens=100))
    long = usual_s(STREAM, Usage(input_tokens=80_000))

    assert (short, long) == (usual_ttft_s(100), usual_ttft_s(80_000))
    assert long > 20 * short


def test_cached_part_of_a_prompt_takes_no_time() -> None:
    assert usual_s(STREAM, Usage(input_tokens=80_000, cached_tokens=79_000)) == usual_ttft_s(1_000)


def test_more_cached_than_there_is_counts_as_all() -> None:
    assert usual_s(STREAM, Usage(input_tokens=10, cached_tokens=20)) == usual_ttft_s(0)


def test_length_of_a_prompt_is_guessed_from_the_body_until_it_is_counted() -> None:
    assert usual_s(STREAM, None) == usual_ttft_s(1_000)


def test_body_full_of_images_is_no_prompt_of_millions_of_tokens() -> None:
    facts = builders.facts(stream=True, body_bytes=30_000_000)

    assert usual_s(facts, None) == usual_ttft_s(32_000)


def test_whole_answer_is_measured_by_its_length() -> None:
    assert usual_s(UNARY, Usage(input_tokens=1_000, output_tokens=900)) == usual_unary_s(1_000, 900)
    assert usual_s(UNARY, Usage(input_tokens=1_000)) == usual_unary_s(1_000, 200)


def test_patience_with_a_whole_answer_is_that_for_the_longest_it_may_be() -> None:
    capped = builders.facts(body_bytes=4_000, max_output_tokens=50)

    assert patient_s(UNARY) == usual_unary_s(1_000, 1_000)
    assert patient_s(capped) == usual_unary_s(1_000, 50)
    assert patient_s(STREAM) == usual_ttft_s(1_000)


@pytest.mark.parametrize("measured_s", [5e-324, 1e308])
def test_most_extreme_times_can_be_learned(measured_s: float) -> None:
    slowness = Slowness()

    slowness.observe(measured_s, usual_s(UNARY, None), 1_000.0)

    assert slowness.samples == 1
