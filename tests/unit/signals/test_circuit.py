"""Whether somebody who fails again and again is still asked."""

import pytest

from pointsman.signals.circuit import FAILURES, PAUSE_S, Circuit


@pytest.fixture
def opened() -> Circuit:
    """Open since second 0."""
    circuit = Circuit()
    said = [circuit.ended(0.0, well=False) for _ in range(FAILURES)]
    assert said == [False] * (FAILURES - 1) + [True]
    return circuit


def test_failures_that_are_not_in_a_row_change_nothing() -> None:
    circuit = Circuit()

    for number in range(3 * FAILURES):
        circuit.ended(0.0, well=number % FAILURES == FAILURES - 1)

    assert circuit.begin(0.0)


def test_nobody_asks_until_the_pause_is_over(opened: Circuit) -> None:
    assert not opened.begin(PAUSE_S - 0.1)
    assert opened.begin(PAUSE_S)


def test_after_the_pause_one_asks_for_all(opened: Circuit) -> None:
    assert [opened.begin(PAUSE_S) for _ in range(3)] == [True, False, False]


def test_one_that_never_ends_does_not_keep_the_circuit_open_for_ever(opened: Circuit) -> None:
    opened.begin(PAUSE_S)

    assert opened.begin(2 * PAUSE_S)


def test_failure_after_the_pause_begins_the_next_one_and_is_no_news(opened: Circuit) -> None:
    opened.begin(PAUSE_S)

    assert not opened.ended(PAUSE_S + 1.0, well=False)
    assert not opened.begin(2 * PAUSE_S)
    assert opened.begin(2 * PAUSE_S + 1.0)


def test_answer_closes_it(opened: Circuit) -> None:
    opened.begin(PAUSE_S)

    opened.ended(PAUSE_S, well=True)

    assert [opened.begin(PAUSE_S) for _ in range(3)] == [True] * 3
