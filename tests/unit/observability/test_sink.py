"""Log lines and whoever takes them, or does not."""

import logging
import os
import time
from collections.abc import Iterator

import pytest

from pointsman.observability.sink import MAX_WAITING, Sink

PIPE_BYTES = 64 << 10  # what the kernel holds of a pipe

pytestmark = pytest.mark.case("T87")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue  # the test has closed it


def entry(text: str) -> logging.LogRecord:
    return logging.LogRecord("a", logging.INFO, "file.py", 1, text, (), None)


def drained(reader: int, count: int) -> list[str]:
    """So many lines, as they come."""
    found = b""
    while found.count(b"\n") < count:
        found += os.read(reader, PIPE_BYTES)
    return found.decode().splitlines()


def test_lines_are_written_in_order(pipe: tuple[int, int]) -> None:
    sink = Sink(pipe[1])

    for number in range(1_000):
        sink.emit(entry(str(number)))

    assert drained(pipe[0], 1_000) == [str(number) for number in range(1_000)]
    sink.close()
    assert sink.lost == 0


def test_closing_writes_what_is_left(pipe: tuple[int, int]) -> None:
    sink = Sink(pipe[1])
    for number in range(100):
        sink.emit(entry(str(number)))

    sink.close()

    assert len(os.read(pipe[0], PIPE_BYTES).splitlines()) == 100


def test_reader_that_takes_nothing_holds_up_nobody_and_what_is_lost_is_counted(pipe: tuple[int, int]) -> None:
    sink, line, extra = Sink(pipe[1]), "x" * 1_000, 500
    fitting = PIPE_BYTES // (len(line) + 1)

    began = time.monotonic()
    for _ in range(3 * MAX_WAITING):
        sink.emit(entry(line))
    took_s = time.monotonic() - began

    assert took_s < 10.0  # a blocked write would take for ever
    assert sink.lost > 0
    kept = 3 * MAX_WAITING - sink.lost
    assert fitting < kept <= 2 * MAX_WAITING + fitting + extra
    assert len(drained(pipe[0], kept)) == kept
    sink.close()


def test_exit_does_not_wait_for_a_reader_that_takes_nothing(pipe: tuple[int, int]) -> None:
    sink = Sink(pipe[1])
    for _ in range(1_000):
        sink.emit(entry("x" * 1_000))

    began = time.monotonic()
    sink.close()

    assert time.monotonic() - began < 10.0
    drained(pipe[0], 1_000)


def test_reader_that_has_left_costs_lines_and_nothing_else(pipe: tuple[int, int]) -> None:
    sink = Sink(pipe[1])
    os.close(pipe[0])

    sink.emit(entry("unseen"))
    sink.flush()
    sink.emit(entry("unseen, too"))
    sink.close()

    assert sink.lost == 2


def test_text_that_is_no_unicode_is_written_all_the_same(pipe: tuple[int, int]) -> None:
    sink = Sink(pipe[1])

    sink.emit(entry("a\udc80b"))
    sink.close()

    assert os.read(pipe[0], PIPE_BYTES) == b"a\\udc80b\n"
