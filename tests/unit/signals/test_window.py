"""Windows: what was seen within them, exactly, and nothing older."""

import random

import pytest

from pointsman.domain.outcome import Outcome, Usage
from pointsman.signals.window import NOTHING_SEEN, Window
from pointsman.testing import builders

MINUTES = 600.0


def answered(duration_s: float = 1.0, tokens: int | None = None, ttfb_s: float | None = None) -> Outcome:
    usage = None if tokens is None else Usage(output_tokens=tokens)
    return builders.outcome(duration_s=duration_s, usage=usage, ttfb_s=ttfb_s, committed=True)


@pytest.mark.req("D-070")
def test_nothing_was_seen_of_who_was_never_used() -> None:
    assert Window(MINUTES).at(1e9) is NOTHING_SEEN


@pytest.mark.req("D-033", "D-070", "D-073")
@pytest.mark.parametrize(
    ("outcome", "ratios"),
    [
        (answered(), (0.0, 0.0, 0.0)),
        (builders.outcome("upstream_fault", detail="status_500"), (1.0, 0.0, 1.0)),
        (builders.outcome("upstream_fault", detail="timeout_first_content"), (0.0, 1.0, 1.0)),
        (builders.outcome("upstream_fault", detail="connect_timeout"), (0.0, 1.0, 1.0)),
        (builders.outcome("broken_stream", detail="timeout_idle", committed=True), (0.0, 1.0, 0.0)),
        (builders.outcome("broken_stream", detail="truncated", committed=True), (1.0, 0.0, 0.0)),
        (builders.outcome("bad_payload", detail="malformed"), (1.0, 0.0, 1.0)),
        (builders.outcome("rate_limited"), (0.0, 0.0, 1.0)),
    ],
)
def test_each_end_counts_as_what_it_is(outcome: Outcome, ratios: tuple[float, ...]) -> None:
    window = Window(MINUTES)

    window.observe(outcome, 5.0)

    seen = window.at(5.0)
    assert seen.observed == 1
    assert (seen.error_ratio, seen.timeout_ratio, seen.rescued_ratio) == ratios


@pytest.mark.req("D-073")
@pytest.mark.parametrize("end", ["caller_gone", "caller_fault", "blocked", "conflict"])
def test_what_is_about_the_request_is_not_counted(end: str) -> None:
    window = Window(MINUTES)

    window.observe(builders.outcome(end), 5.0)

    assert window.at(5.0) is NOTHING_SEEN


@pytest.mark.req("D-031")
def test_quantile_is_that_of_the_answers_within_a_bucket() -> None:
    window, rng = Window(MINUTES), random.Random(3)
    times_s = sorted([rng.lognormvariate(0.0, 1.0) for _ in range(4_000)])

    for time_s in times_s:
        window.observe(answered(time_s, ttfb_s=time_s / 10), 5.0)

    seen = window.at(5.0)
    assert seen.p95_s == pytest.approx(times_s[3_800], rel=0.1)
    assert seen.ttfb_p95_s == pytest.approx(times_s[3_800] / 10, rel=0.1)


@pytest.mark.parametrize("time_s", [1e-9, 0.01, 1_200.0, 1e9])
def test_times_beyond_the_buckets_count_as_the_nearest(time_s: float) -> None:
    window = Window(MINUTES)

    window.observe(answered(time_s), 5.0)

    p95_s = window.at(5.0).p95_s
    assert p95_s is not None
    assert 0.009 < p95_s < 2_000


@pytest.mark.req("D-032")
def test_speed_is_that_of_whole_answers() -> None:
    window = Window(MINUTES)
    for duration_s, tokens in ((2.0, 100), (8.0, 100), (9.0, None), (9.0, 0)):
        window.observe(answered(duration_s, tokens), 5.0)

    assert window.at(5.0).output_tps == 20.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, 0.0])
def test_what_is_no_time_poisons_nothing(bad: float) -> None:
    window = Window(MINUTES)

    window.observe(answered(bad, tokens=5, ttfb_s=bad), 5.0)
    window.observe(answered(2.0, tokens=10), 5.0)

    assert window.at(5.0).output_tps == 5.0
    assert window.at(5.0).observed == 2


@pytest.mark.req("X-12", "D-070")
def test_once_slow_target_is_as_if_it_never_was_when_the_window_has_passed_without_traffic() -> None:
    window = Window(MINUTES)
    for _ in range(50):
        window.observe(answered(30.0), 0.0)

    assert window.at(599.0).p95_s == pytest.approx(30.0, rel=0.2)
    assert window.at(610.0) is NOTHING_SEEN


@pytest.mark.req("X-12")
def test_a_window_of_good_answers_forgets_the_slow_ones_one_by_one() -> None:
    window = Window(60.0)
    for second in range(60):
        window.observe(answered(30.0), float(second))
    slow_for_s = 0
    for second in range(60, 130):
        window.observe(answered(1.0), float(second))
        p95_s = window.at(float(second)).p95_s
        slow_for_s += p95_s is not None and p95_s > 2.0

    assert 50 <= slow_for_s <= 60


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_attempts_within_the_window(seed: int) -> None:
    """Against a plain list: also when nobody looks for long."""
    rng, window, now = random.Random(seed), Window(60.0), 0.0
    kept: list[tuple[int, bool]] = []
    for _ in range(3_000):
        now += rng.choice([0.0, 0.1, 0.5, 3.0, 20.0])
        if rng.random() < 0.8:
            failed = rng.random() < 0.3
            window.observe(builders.outcome("upstream_fault") if failed else answered(rng.random() + 0.1, 7), now)
            kept.append((int(now), failed))
        within = [failed for second, failed in kept if second > int(now) - 60]

        seen = window.at(now)

        assert seen.observed == len(within)
        assert (seen.error_ratio or 0.0) == pytest.approx(sum(within) / len(within) if within else 0.0)


def test_clock_that_steps_back_loses_and_doubles_nothing() -> None:
    window = Window(60.0)
    for now in (100.0, 90.0, 100.0):
        window.observe(answered(), now)

    assert window.at(100.0).observed == 3
    assert window.at(90.0).observed == 3
