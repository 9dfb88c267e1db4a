"""All targets of a group at one instant, each beside its peers."""

import math

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.view import RARE_RATIO, Measured, Signal
from pointsman.signals.load import Company, Load
from pointsman.signals.measure import measured
from pointsman.signals.ratios import RATE_LIMITS
from pointsman.signals.target_state import TargetState
from pointsman.signals.tracks import Tracks
from pointsman.testing import builders

NOW = 1_000.0
BY_TTFT = frozenset((Signal.IN_FLIGHT, Signal.TTFT))
BY_TTFB = frozenset((Signal.IN_FLIGHT, Signal.TTFB, Signal.FAILURES))
BY_RATE_LIMITS = frozenset((Signal.RATE_LIMITS,))
STREAM, UNARY = builders.facts(stream=True), builders.facts()
USAGE = Usage(input_tokens=1_000, output_tokens=200)


def remembered() -> TargetState:
    """A target whose tracks are kept."""
    target = TargetState()
    target.tracks = Tracks()
    return target


def state(*times_s: float, stream: bool = True, failed: int = 0) -> TargetState:
    """A target that has answered so often, each time with a prompt of usual length."""
    target = remembered()
    facts = STREAM if stream else UNARY
    for time_s in times_s:
        served = builders.outcome(status=200, ttfb_s=time_s, ttft_s=time_s, duration_s=time_s, usage=USAGE)
        target.tracks.observe(facts, served, NOW)
    for _ in range(failed):
        target.tracks.observe(facts, builders.outcome("upstream_fault", status=500), NOW)
    return target


@pytest.mark.req("C-08")
@pytest.mark.parametrize(
    ("reads", "known"),
    [
        (frozenset((Signal.IN_FLIGHT,)), set()),
        (BY_TTFT, {"ttft_s", "unary_s"}),
        (BY_TTFB, {"ttfb_s", "failure_ratio"}),
    ],
)
def test_only_what_is_read_is_worked_out(reads: frozenset[Signal], known: set[str]) -> None:
    (seen,) = measured([state(0.4, failed=1)], reads, NOW)

    numbers = ("ttft_s", "unary_s", "ttfb_s", "failure_ratio")
    assert {name for name in numbers if getattr(seen, name) is not None} == known


@pytest.mark.req("R-015")
@pytest.mark.bug("C-07")
def test_nothing_is_known_of_targets_that_were_never_used() -> None:
    assert measured([None, state()], BY_TTFT, NOW) == (Measured(0), Measured(0))
    assert measured([None, state()], BY_TTFB, NOW) == (Measured(0, failure_ratio=pytest.approx(RARE_RATIO)),) * 2


def test_latency_is_shown_for_a_prompt_of_usual_length() -> None:
    (seen,) = measured([state(*[0.9] * 50)], BY_TTFT, NOW)

    assert seen.ttft_s == pytest.approx(0.9, rel=0.01)


def test_target_known_by_one_kind_of_answer_is_as_slow_at_the_other() -> None:
    twice, once = measured([state(*[0.95] * 20), state(*[4.475] * 20, stream=False)], BY_TTFT, NOW)

    assert twice.unary_s == pytest.approx(2 * 4.475, rel=0.2)
    assert once.ttft_s == pytest.approx(0.475, rel=0.2)


@pytest.mark.req("C-04")
def test_few_samples_are_drawn_toward_the_group() -> None:
    alone = measured([state(2.0)], BY_TTFT, NOW)[0].ttft_s
    beside = measured([state(2.0), state(*[0.475] * 100)], BY_TTFT, NOW)[0].ttft_s

    assert alone is not None
    assert beside is not None
    assert alone > 1.5 > beside


def test_peak_fades_toward_the_faster_half_of_the_group() -> None:
    slow, fast = measured([state(20.0), state(0.3)], BY_TTFB, NOW + 600.0)

    assert (slow.ttfb_s, fast.ttfb_s) == (pytest.approx(0.3), pytest.approx(0.3))


def test_failures_are_told_beside_those_of_the_peers() -> None:
    seen = measured([state(), state(failed=20), state(failed=2)], BY_TTFB, NOW)

    new, worst, better = [each.failure_ratio for each in seen]
    assert new is not None
    assert worst is not None
    assert better is not None
    assert RARE_RATIO < new <= better < worst


@pytest.mark.bug("C-08")
def test_target_that_does_not_answer_is_slow_before_anything_has_failed() -> None:
    hanging = state(*[0.3] * 20)
    for age_s in (4.0, 3.0, 0.2):
        hanging.begin("alice", NOW - age_s, is_probe=False, facts=STREAM)

    (by_ttft,), (by_ttfb,) = measured([hanging], BY_TTFT, NOW), measured([hanging], BY_TTFB, NOW)

    assert (by_ttft.in_flight, by_ttft.overdue, by_ttfb.overdue) == (3, 2, 2)
    assert (by_ttft.ttft_s, by_ttft.unary_s, by_ttfb.ttfb_s) == (7.0, 7.0, 7.0)


@pytest.mark.bug("C-14")
def test_new_target_that_does_not_answer_is_no_longer_unknown() -> None:
    hanging = state()
    hanging.begin("alice", NOW - 4.0, is_probe=False, facts=STREAM)

    (by_ttft,), (by_ttfb,) = measured([hanging], BY_TTFT, NOW), measured([hanging], BY_TTFB, NOW)

    assert (by_ttft.ttft_s, by_ttfb.ttfb_s) == (6.0, 6.0)


def test_stream_that_has_begun_is_not_waited_for() -> None:
    busy = state(*[0.3] * 20)
    busy.begin("alice", NOW - 60.0, is_probe=False, facts=STREAM).answered()

    (seen,) = measured([busy], BY_TTFT, NOW)

    assert (seen.in_flight, seen.overdue) == (1, 0)


@pytest.mark.parametrize("reads", [BY_TTFT, BY_TTFB])
def test_reading_changes_nothing(reads: frozenset[Signal]) -> None:
    states = [state(0.5), state(2.0, failed=1)]
    before = measured(states, reads, NOW)

    measured(states, reads, NOW + 1e9)

    assert measured(states, reads, NOW) == before


@pytest.mark.parametrize("gap_s", [-1e6, 1e6])
def test_numbers_stay_finite_after_days_of_silence_and_when_the_clock_steps_back(gap_s: float) -> None:
    for reads in (BY_TTFT, BY_TTFB):
        for seen in measured([state(0.5), state(2.0, failed=3)], reads, NOW + gap_s):
            numbers = [seen.ttft_s, seen.unary_s, seen.ttfb_s, seen.failure_ratio]
            assert all(math.isfinite(number) and number > 0 for number in numbers if number is not None)


@pytest.mark.req("O-003")
def test_rate_limits_are_told_beside_those_of_the_peers() -> None:
    seen = measured([limited(0), limited(20), limited(2)], BY_RATE_LIMITS, NOW)

    new, worst, better = [each.rate_limited_ratio for each in seen]
    assert new is not None
    assert worst is not None
    assert better is not None
    assert RARE_RATIO < new <= better < worst


def test_rate_limits_of_a_target_that_was_never_used_are_rare() -> None:
    assert measured([None], BY_RATE_LIMITS, NOW)[0].rate_limited_ratio == pytest.approx(RARE_RATIO)


def limited(times: int) -> TargetState:
    """A target that has refused so many requests."""
    target = state()
    target.tracks.rate_limits = RATE_LIMITS.new()
    for _ in range(times):
        target.tracks.observe(STREAM, builders.outcome("rate_limited", status=429), NOW)
    return target


def test_peaks_drift_back_to_the_lower_median() -> None:
    states = [state(time_s) for time_s in (0.1, 0.2, 0.4, 0.8, 1.6)]

    seen = measured(states, BY_TTFB, NOW + 86_400.0)

    assert [each.ttfb_s for each in seen] == pytest.approx([0.4] * 5, rel=0.05)


def loaded(slope: float, in_flight: int) -> TargetState:
    """A target that was seen under loads up to 31, and has so many attempts on their way."""
    target = remembered()
    target.tracks.load = Load(target.tracks.streams, target.tracks.unary)
    for beside in (0, 1, 3, 7, 15, 31) * 20:
        ttft_s = 0.475 * (1 + beside) ** slope
        outcome = builders.outcome(status=200, ttfb_s=ttft_s, ttft_s=ttft_s, duration_s=ttft_s, usage=USAGE)
        target.tracks.observe(STREAM, outcome, NOW - 60.0, Company(NOW - 61.0, beside, beside))
    for _ in range(in_flight):
        target.begin("alice", NOW, is_probe=False)
    return target


def test_expected_latency_is_that_of_the_load_of_now() -> None:
    reads = BY_TTFT | {Signal.LOAD_SLOPE}
    idle, busy = measured([loaded(1.0, 0), loaded(1.0, 31)], reads, NOW)
    hosted_idle, hosted_busy = measured([loaded(0.0, 0), loaded(0.0, 31)], reads, NOW)

    assert busy.ttft_s == pytest.approx(16.0 * idle.ttft_s, rel=0.6)
    assert hosted_busy.ttft_s == pytest.approx(hosted_idle.ttft_s, rel=0.1)


def test_who_does_not_read_the_slope_gets_the_latency_of_a_mean_load() -> None:
    idle, busy = measured([loaded(1.0, 0), loaded(1.0, 31)], BY_TTFT, NOW)

    assert busy.ttft_s == pytest.approx(idle.ttft_s)


def test_burst_that_has_made_a_target_slow_is_not_counted_twice() -> None:
    """The last seconds were learned under the load of now: the line must start from their load, not from the usual."""
    target = loaded(1.0, 31)
    for _ in range(20):
        outcome = builders.outcome(status=200, ttfb_s=15.2, ttft_s=15.2, duration_s=15.2, usage=USAGE)
        target.tracks.observe(STREAM, outcome, NOW, Company(NOW - 16.0, 31, 31))

    (seen,) = measured([target], BY_TTFT | {Signal.LOAD_SLOPE}, NOW)

    assert seen.ttft_s == pytest.approx(15.2, rel=0.35)
