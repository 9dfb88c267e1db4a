"""Records and changes of state as sentences."""

import pytest

from pointsman.demo import story
from pointsman.domain.decision import DecisionMode
from pointsman.domain.view import Breaker, PauseCause
from pointsman.testing import builders
from tests.unit.demo.recording import TARGETS, attempt, note, record

CLOSED = builders.view()
OPEN = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=103.2)
HALF_OPEN = builders.view(breaker=Breaker.HALF_OPEN, pause_cause=PauseCause.FAULTS, paused_until=103.2)
BROKEN = attempt("steady", "upstream_fault")


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (record(attempt()), None),
        (record(BROKEN, attempt("swift")), "swift answered in place of steady, which failed (503)"),
        (
            record(BROKEN, attempt("swift", "upstream_fault", detail="connect_refused"), attempt("thrifty")),
            "thrifty answered in place of steady, which failed (503) and swift, which failed (connect_refused)",
        ),
        (
            record(attempt("swift", "rate_limited", detail="status_429", mode=DecisionMode.PROBE), attempt("steady")),
            "steady answered in place of swift, whose probe failed (429)",
        ),
        (
            record(BROKEN, reason="targets_exhausted", status=502),
            "a caller got an error, targets_exhausted: steady, which failed (503)",
        ),
        (
            record(reason="model_not_found", status=404, decisions=()),
            "a caller got an error, model_not_found: nobody was asked",
        ),
        (
            record(attempt("swift", "caller_gone"), reason="caller_gone", status=499),
            "a caller left before the end of its answer",
        ),
    ],
)
def test_request_is_told_if_there_is_something_to_tell(told: story.DecisionRecord, text: str | None) -> None:
    assert story.of_request(told) == text


@pytest.mark.parametrize(
    ("decided", "text"),
    [
        (note("steady"), "steady (weighted) of swift 60 %, steady 30 %, thrifty 10 %"),
        (
            note("thrifty", candidates=TARGETS[2:], shares=(1.0,), excluded=dict.fromkeys(TARGETS[:2], "paused")),
            "thrifty (weighted) of thrifty 100 %; out: swift paused, steady paused",
        ),
        (note(None, candidates=(), shares=(), excluded={TARGETS[0]: "tried"}), "nobody; out: swift tried"),
    ],
)
def test_decision_says_who_was_picked_of_whom_and_who_was_out(decided: story.DecisionNote, text: str) -> None:
    assert story.of_decision(decided) == text


@pytest.mark.parametrize(
    ("before", "after", "now", "text"),
    [
        (CLOSED, CLOSED, 100.0, None),
        (CLOSED, OPEN, 100.0, "swift is paused for 4 s after faults"),
        (OPEN, OPEN, 101.0, None),
        (OPEN, HALF_OPEN, 104.0, None),
        (HALF_OPEN, CLOSED, 104.5, "swift answers again: its pause is over"),
        (OPEN, CLOSED, 104.5, "swift answers again: its pause is over"),
        (
            HALF_OPEN,
            builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.RATE_LIMIT, paused_until=110.0),
            104.0,
            "swift is paused for 6 s after a rate limit",
        ),
        (
            OPEN,  # and half-open in between, while nobody looked
            builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=110.0),
            104.0,
            "swift is paused for 6 s after faults",
        ),
    ],
)
def test_change_of_state_is_told_once(
    before: story.TargetView, after: story.TargetView, now: float, text: str | None
) -> None:
    assert story.of_change("swift/simulated", before, after, now) == text


def test_every_cause_of_a_pause_has_its_words() -> None:
    assert set(story.PAUSED_AFTER) == set(PauseCause)


def test_pause_never_has_no_time_left() -> None:
    assert [story.pause_left_s(OPEN, now) for now in (100.0, 103.1, 103.2)] == [4, 1, 1]


def test_one_is_singular() -> None:
    assert [story.counted(count, "failover") for count in (0, 1, 2)] == ["0 failovers", "1 failover", "2 failovers"]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0.98, 0.02, "thrifty's share went from 98 % to 2 %"),
        (0.02, 0.98, "thrifty's share went from 2 % to 98 %"),
        (0.50, 0.58, None),
    ],
)
def test_shift_of_a_share_is_told_if_it_is_more_than_chance(before: float, after: float, text: str | None) -> None:
    assert story.of_shift("thrifty", before, after) == text
