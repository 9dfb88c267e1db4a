"""What an attempt tells about its target, and what it does not."""

import math

import pytest

from pointsman.domain.outcome import OutcomeClass, Usage
from pointsman.signals.ratios import RATE_LIMITS
from pointsman.signals.tracks import Tracks
from pointsman.signals.two_tracks import NOTHING, Sums
from pointsman.testing import builders

NOW = 1_000.0
STREAM, UNARY = builders.facts(stream=True), builders.facts()
USAGE = Usage(input_tokens=1_000, output_tokens=200)
FAILED = Sums(1.0, 1.0, 1.0, 1.0)
RELIABILITY = {
    OutcomeClass.OK: Sums(1.0, 0.0, 1.0, 0.0),
    OutcomeClass.BROKEN_STREAM: FAILED,
    OutcomeClass.BAD_PAYLOAD: FAILED,
    OutcomeClass.CREDENTIAL_FAULT: FAILED,
    OutcomeClass.MISSING: FAILED,
    OutcomeClass.UPSTREAM_FAULT: FAILED,
}


def after(*attempts: tuple[str, dict[str, object]], stream: bool = True) -> Tracks:
    tracks = Tracks()
    for outcome_class, details in attempts:
        tracks.observe(STREAM if stream else UNARY, builders.outcome(outcome_class, **details), NOW)
    return tracks


def served(ttft_s: float = 0.5, ttfb_s: float = 0.4) -> tuple[str, dict[str, object]]:
    return "ok", {"status": 200, "ttfb_s": ttfb_s, "ttft_s": ttft_s, "duration_s": 3.0, "usage": USAGE}


@pytest.mark.req("O-026")
def test_stream_tells_its_first_byte_and_its_first_content() -> None:
    tracks = after(served())

    assert (tracks.streams.samples, tracks.unary.samples, tracks.ttfb.latest) == (1, 0, 0.4)


def test_whole_answer_is_told_apart_from_streams() -> None:
    tracks = after(served(ttft_s=4.0), stream=False)

    assert (tracks.streams.samples, tracks.unary.samples) == (0, 1)


@pytest.mark.req("R-015")
@pytest.mark.bug("C-06", "P-3")
@pytest.mark.parametrize("outcome_class", sorted(set(OutcomeClass) - {OutcomeClass.OK, OutcomeClass.CALLER_GONE}))
def test_failure_never_tells_a_speed(outcome_class: OutcomeClass) -> None:
    failed = {"status": 500, "ttfb_s": 0.003, "ttft_s": 0.003, "duration_s": 0.003}

    tracks = after((outcome_class, failed))

    assert (tracks.samples, tracks.ttfb.latest) == (0, None)


@pytest.mark.parametrize("status", [None, 200])
def test_attempt_that_ended_while_it_was_waited_for_took_at_least_so_long(status: int | None) -> None:
    tracks = after(("upstream_fault", {"status": status, "duration_s": 20.0}))

    assert (tracks.streams.samples, tracks.ttfb.latest) == (1, 20.0)


def test_quickly_refused_connection_is_no_speed() -> None:
    tracks = after(served(), ("upstream_fault", {"detail": "connect_refused", "duration_s": 0.001}))

    assert (tracks.streams.samples, tracks.ttfb.latest) == (1, 0.4)


@pytest.mark.req("D-073")
@pytest.mark.trap("10")
@pytest.mark.bug("C-13", "P-10")
def test_caller_who_gives_up_is_evidence_of_slowness_and_none_of_failure() -> None:
    tracks = after(("caller_gone", {"duration_s": 5.0}))

    assert (tracks.streams.samples, tracks.ttfb.latest) == (1, 5.0)
    assert tracks.failures.at(NOW) is NOTHING


@pytest.mark.bug("C-13", "P-3")
def test_caller_who_leaves_in_the_middle_tells_the_speed_until_the_first_content() -> None:
    tracks = after(("caller_gone", {"status": 200, "ttfb_s": 0.4, "ttft_s": 0.5, "duration_s": 0.6}))

    assert (tracks.streams.samples, tracks.ttfb.latest) == (1, 0.4)


@pytest.mark.req("C-06", "D-073")
@pytest.mark.parametrize("outcome_class", list(OutcomeClass))
def test_outcome_counts_for_reliability_as_the_table_says(outcome_class: OutcomeClass) -> None:
    failures = after((outcome_class, {"status": 500})).failures

    assert failures.at(NOW) == RELIABILITY.get(outcome_class, NOTHING)


@pytest.mark.req("D-073")
@pytest.mark.parametrize("outcome_class", list(OutcomeClass))
def test_outcome_counts_for_rate_limits_as_the_table_says(outcome_class: OutcomeClass) -> None:
    tracks = Tracks()
    tracks.rate_limits = RATE_LIMITS.new()

    tracks.observe(STREAM, builders.outcome(outcome_class, status=429), NOW)

    expected = {OutcomeClass.OK: Sums(1.0, 0.0, 1.0, 0.0), OutcomeClass.RATE_LIMITED: Sums(1.0, 1.0, 1.0, 1.0)}
    assert tracks.rate_limits.at(NOW) == expected.get(outcome_class, NOTHING)


def test_rate_limits_are_not_counted_unless_somebody_reads_them() -> None:
    assert after(("rate_limited", {"status": 429})).rate_limits is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0, 0.0])
def test_times_that_are_none_are_refused_at_the_door(value: float) -> None:
    tracks = after(
        ("ok", {"ttfb_s": value, "ttft_s": value, "duration_s": value}),
        ("caller_gone", {"duration_s": value}),
        served(),
    )

    assert tracks.samples == 1
    assert tracks.ttfb.latest == 0.4
    assert math.isfinite(tracks.streams.tracks.at(NOW).slow_sum)
