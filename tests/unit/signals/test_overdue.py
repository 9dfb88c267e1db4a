"""Attempts that should have had their first content by now."""

import pytest

from pointsman.signals.overdue import NONE_OVERDUE, overdue
from pointsman.signals.target_state import Lease, TargetState
from pointsman.testing import builders

NOW = 1_000.0
STREAM = builders.facts(stream=True, body_bytes=400)


def waiting(*ages_s: float, stream: bool = True, body_bytes: int = 400) -> list[Lease]:
    """The oldest first, as they are kept."""
    facts = builders.facts(stream=stream, body_bytes=body_bytes)
    return [Lease(TargetState(), "alice", NOW - age_s, facts, is_probe=False) for age_s in ages_s]


def test_nothing_is_overdue_within_a_second() -> None:
    assert overdue(waiting(0.9, 0.5), slowness=0.01, now=NOW) == NONE_OVERDUE


@pytest.mark.bug("C-08")
def test_those_that_should_have_answered_are_counted_with_their_mean_age() -> None:
    found = overdue(waiting(4.0, 2.0, 0.5), slowness=1.0, now=NOW)

    assert (found.count, found.mean_age_s) == (2, 3.0)


def test_slow_target_is_waited_for_longer() -> None:
    assert overdue(waiting(4.0, 2.0), slowness=10.0, now=NOW) == NONE_OVERDUE


def test_long_prompt_is_waited_for_longer() -> None:
    assert overdue(waiting(4.0, 2.0, body_bytes=128_000), slowness=1.0, now=NOW) == NONE_OVERDUE


def test_whole_answer_is_waited_for_longer() -> None:
    assert overdue(waiting(20.0, stream=False), slowness=1.0, now=NOW) == NONE_OVERDUE
    assert overdue(waiting(60.0, stream=False), slowness=1.0, now=NOW).count == 1


def test_attempt_that_nothing_is_known_of_is_not_judged() -> None:
    lease = Lease(TargetState(), "alice", NOW - 60.0, None, is_probe=False)

    assert overdue([lease], slowness=1.0, now=NOW) == NONE_OVERDUE


def test_only_the_oldest_are_looked_at() -> None:
    assert overdue(waiting(*[9.0] * 10_000), slowness=1.0, now=NOW).count == 64


def test_target_counts_as_slow_as_they_are_old_and_more_for_each() -> None:
    found = overdue(waiting(4.0, 2.0), slowness=1.0, now=NOW)

    assert found.slowed(0.3) == 6.0
    assert found.slowed(10.0) == 20.0
