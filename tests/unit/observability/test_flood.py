"""Floods of equal faults."""

import logging

import pytest

from pointsman.observability.flood import MAX_CAUSES, MAX_LINES_PER_S, FloodGate
from pointsman.testing import FakeClock

KIND = (ValueError, ValueError("x"), None)


def line(
    text: str = "it failed: %s", level: int = logging.ERROR, name: str = "a", value: str = "", **more: object
) -> logging.LogRecord:
    record = logging.LogRecord(name, level, "file.py", 1, text, (value,), None)
    record.__dict__.update(more)
    return record


def passed(gate: FloodGate, *lines: logging.LogRecord) -> int:
    return sum(gate.filter(each) for each in lines)


@pytest.mark.case("T77")
def test_of_ten_thousand_equal_lines_a_second_ten_are_written_and_the_rest_is_counted() -> None:
    clock = FakeClock()
    gate, written = FloodGate(clock.now), 0

    for _ in range(3):
        for number in range(10_000):
            written += gate.filter(line(value=str(number)))
            clock.advance(0.0001)

    assert written <= 3 * MAX_LINES_PER_S + MAX_LINES_PER_S
    assert written + gate.dropped == 30_000


@pytest.mark.case("T77")
def test_the_next_line_says_how_many_were_left_out() -> None:
    clock = FakeClock()
    gate = FloodGate(clock.now)
    passed(gate, *(line() for _ in range(MAX_LINES_PER_S + 7)))
    clock.advance(1.0)
    first, second = line(fields={"group": "chat"}), line()

    assert passed(gate, first, second) == 2
    assert first.__dict__["fields"] == {"group": "chat", "left_out": 7}
    assert not hasattr(second, "fields")


@pytest.mark.case("T77")
@pytest.mark.parametrize(
    "other",
    [line("another text"), line(level=logging.WARNING), line(name="b"), line(exc_info=KIND)],
    ids=["text", "level", "logger", "exception"],
)
def test_a_flood_of_one_cause_hides_no_other(other: logging.LogRecord) -> None:
    gate = FloodGate(FakeClock().now)
    passed(gate, *(line() for _ in range(100)))

    assert gate.filter(other)


def test_lines_that_are_no_faults_are_all_written() -> None:
    gate = FloodGate(FakeClock().now)

    assert passed(gate, *(line(level=logging.INFO) for _ in range(1_000))) == 1_000
    assert gate.dropped == 0


@pytest.mark.case("I26")
def test_causes_are_bounded() -> None:
    gate = FloodGate(FakeClock().now)

    assert passed(gate, *(line(f"cause {number}") for number in range(MAX_CAUSES + 5))) == MAX_CAUSES + 5
    assert len(gate._windows) <= MAX_CAUSES
