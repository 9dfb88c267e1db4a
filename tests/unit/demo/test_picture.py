"""What the view shows is what the records and the board say."""

import random
from collections import Counter

import pytest

from pointsman.demo.picture import KEPT_LINES, WINDOW_S, Callers, Kind, Observer, Picture, Row
from pointsman.domain.view import Breaker, PauseCause
from pointsman.testing import builders
from tests.unit.demo.recording import TARGETS, attempt, note, record

BEGAN_AT = 100.0
NOBODY = Callers()


@pytest.fixture
def observer() -> Observer:
    return Observer(TARGETS, BEGAN_AT)


def row_of(name: str, picture: Picture) -> Row:
    (row,) = (row for row in picture.rows if row.target_id == f"{name}/simulated")
    return row


def texts(picture: Picture) -> list[str]:
    return [line.text for line in picture.lines]


def test_share_shown_is_that_of_the_records(observer: Observer) -> None:
    rng = random.Random(7)
    names = rng.choices(("swift", "steady", "thrifty"), (60, 30, 10), k=200)
    for name in names:
        observer.record(record(attempt(name)), BEGAN_AT + 1)

    rows = observer.picture(NOBODY, BEGAN_AT + 2).rows

    assert {row.target_id: row.share * len(names) for row in rows} == pytest.approx(
        Counter(f"{name}/simulated" for name in names)
    )
    assert sum(row.share for row in rows) == pytest.approx(1)


def test_every_attempt_of_a_request_counts(observer: Observer) -> None:
    observer.record(record(attempt("swift", "upstream_fault"), attempt("steady")), BEGAN_AT)

    picture = observer.picture(NOBODY, BEGAN_AT)

    assert [row.attempts for row in picture.rows] == [1, 1, 0]
    assert [row.share for row in picture.rows] == [0.5, 0.5, 0.0]


def test_what_is_older_than_the_window_is_forgotten_but_not_the_last_outcome(observer: Observer) -> None:
    observer.record(record(attempt("swift", "upstream_fault"), attempt("steady")), BEGAN_AT)

    row = row_of("swift", observer.picture(NOBODY, BEGAN_AT + WINDOW_S))

    assert (row.attempts, row.share, row.error_ratio, row.ttft_s) == (0, 0.0, None, None)
    assert row.last_outcome == "upstream_fault"


def test_target_that_was_never_tried_has_no_numbers(observer: Observer) -> None:
    row = row_of("thrifty", observer.picture(NOBODY, BEGAN_AT))

    assert (row.share, row.attempts, row.error_ratio, row.ttft_s, row.last_outcome) == (0.0, 0, None, None, None)


def test_errors_are_the_faults_of_the_target_only(observer: Observer) -> None:
    for outcome in ("ok", "upstream_fault", "caller_gone", "caller_fault"):
        observer.record(record(attempt("swift", outcome)), BEGAN_AT)

    assert row_of("swift", observer.picture(NOBODY, BEGAN_AT)).error_ratio == 0.25


def test_ttft_is_the_median_of_streams(observer: Observer) -> None:
    for ttft_s in (0.1, 0.2, 0.9):
        observer.record(record(attempt("swift", ttft_s=ttft_s)), BEGAN_AT)
    observer.record(record(attempt("swift", ttft_s=5.0), stream=False), BEGAN_AT)
    observer.record(record(attempt("swift", "upstream_fault")), BEGAN_AT)

    assert row_of("swift", observer.picture(NOBODY, BEGAN_AT)).ttft_s == 0.2


def test_failovers_count_if_the_request_was_answered_in_the_end(observer: Observer) -> None:
    observer.record(record(attempt()), BEGAN_AT)
    observer.record(record(attempt("swift", "upstream_fault"), attempt("steady")), BEGAN_AT)
    observer.record(record(*[attempt("swift", "upstream_fault")] * 2, reason="targets_exhausted"), BEGAN_AT)

    assert observer.picture(NOBODY, BEGAN_AT).failovers == 1


def test_latest_decision_is_told(observer: Observer) -> None:
    observer.record(record(attempt()), BEGAN_AT)
    observer.record(record(attempt(), decisions=(note("swift"), note("steady"))), BEGAN_AT)
    observer.record(record(reason="model_not_found", decisions=()), BEGAN_AT)

    assert observer.picture(NOBODY, BEGAN_AT).decision.startswith("steady (weighted)")


def test_state_is_that_of_the_board(observer: Observer) -> None:
    view = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=BEGAN_AT + 3)
    observer.look({TARGETS[0]: view}, BEGAN_AT)

    picture = observer.picture(NOBODY, BEGAN_AT + 1)

    assert row_of("swift", picture).view is view
    assert row_of("swift", picture).pause_left_s == 2
    assert row_of("steady", picture).view.breaker is Breaker.CLOSED


def test_story_is_told_in_order_and_timed_from_the_beginning(observer: Observer) -> None:
    view = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=BEGAN_AT + 6)
    observer.tell("swift breaks down", Kind.EVENT, BEGAN_AT + 1)
    observer.record(record(attempt("swift", "upstream_fault"), attempt("steady")), BEGAN_AT + 2)
    observer.look({TARGETS[0]: view}, BEGAN_AT + 3)
    observer.look({TARGETS[0]: view}, BEGAN_AT + 4)

    lines = observer.picture(NOBODY, BEGAN_AT + 5).lines

    assert [(line.number, line.at_s, line.kind) for line in lines] == [
        (1, 1.0, Kind.EVENT),
        (2, 2.0, Kind.REQUEST),
        (3, 3.0, Kind.STATE),
    ]


def test_long_story_keeps_its_latest_lines_and_goes_on_counting(observer: Observer) -> None:
    for number in range(KEPT_LINES + 7):
        observer.tell(str(number), Kind.EVENT, BEGAN_AT)

    picture = observer.picture(NOBODY, BEGAN_AT)

    assert texts(picture) == [str(number) for number in range(7, KEPT_LINES + 7)]
    assert picture.lines[-1].number == KEPT_LINES + 7


def test_callers_are_shown_as_they_were_counted(observer: Observer) -> None:
    assert observer.picture(Callers(9, 2), BEGAN_AT + 4) == Picture(
        4.0, observer.picture(NOBODY, BEGAN_AT).rows, Callers(9, 2), 0, "", ()
    )
