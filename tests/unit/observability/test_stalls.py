"""A loop that is held up, seen from another thread."""

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.observability.stalls import STALL_S, StallWatch, stack_of

PATIENCE_S = 10.0

pytestmark = pytest.mark.case("I24")


class Dial:
    """A clock that is set by hand; threads may read it."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def dial() -> Dial:
    return Dial()


@pytest.fixture
def watch(dial: Dial) -> StallWatch:
    return StallWatch(dial)


@pytest.fixture
def running(watch: StallWatch) -> Iterator[StallWatch]:
    watch.start()
    yield watch
    watch.stop()


def held_by_a_slow_hand(watch: StallWatch) -> None:
    end = time.monotonic() + PATIENCE_S
    while not watch.stalls:
        assert time.monotonic() < end
        time.sleep(0.005)


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.__dict__["fields"] for record in caplog.records]


def test_loop_that_is_held_up_is_told_with_the_stack_of_what_holds_it(
    running: StallWatch, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    a_secret = "canary-in-a-variable"
    dial.at += 2 * STALL_S

    held_by_a_slow_hand(running)
    running.stop()

    (fields,) = told(caplog)
    assert fields["held_ms"] == 2 * STALL_S * 1000
    assert any("test_stalls.py" in line and "held_by_a_slow_hand" in line for line in fields["stack"])
    assert a_secret not in str(fields)
    assert caplog.records[0].levelno == logging.WARNING


def test_each_stall_is_told_once_however_long_it_is(
    watch: StallWatch, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        for _ in range(100):
            dial.at += STALL_S
            watch.look()
        watch.check(0.0)

    assert len(told(caplog)) == watch.stalls == 2


def test_loop_that_gives_signs_of_life_is_left_alone(
    watch: StallWatch, dial: Dial, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(100):
        dial.at += 0.9 * STALL_S
        watch.look()
        watch.check(0.0)

    assert (watch.stalls, told(caplog)) == (0, [])


def test_stop_ends_the_thread_and_may_come_without_a_start(running: StallWatch) -> None:
    running.stop()
    StallWatch().stop()

    assert "stall-watch" not in {thread.name for thread in threading.enumerate()}


def test_thread_that_is_gone_has_no_stack() -> None:
    assert stack_of(None) == []
