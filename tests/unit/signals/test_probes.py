"""Who has not been asked for too long, and what asking has cost."""

import math

import pytest

from pointsman.domain.decision import Spent
from pointsman.signals.probes import Probes

NOW = 10_000.0
NEVER = {"a": -math.inf, "b": -math.inf, "c": -math.inf}


def looked(asked_at: dict[str, float], *, after_s: float, requests: int = 0) -> Probes:
    """First seen at NOW, and again some time and requests later."""
    probes = Probes()
    probes.look(NEVER, 60.0, NOW)
    for _ in range(requests):
        probes.book(Spent(best_usd=1.0))
    probes.look(asked_at, 60.0, NOW + after_s)
    return probes


@pytest.mark.req("O-007")
def test_nobody_is_due_right_after_the_start() -> None:
    assert looked(NEVER, after_s=59.0).view.due == ()


@pytest.mark.req("O-007")
def test_members_that_were_not_asked_for_the_interval_are_due_the_longest_unasked_first() -> None:
    asked_at = {"a": NOW + 100.0, "b": NOW + 30.0, "c": NOW + 10.0}

    assert looked(asked_at, after_s=100.0).view.due == (2, 1)


def test_member_that_was_probed_is_not_due_any_more() -> None:
    probes = looked(NEVER, after_s=61.0)

    probes.book(Spent(1.0, 0.5, probed=1))

    assert probes.view.due == (0, 2)
    assert (probes.view.probes, probes.view.extra_usd) == (1, 0.5)


@pytest.mark.req("O-007")
@pytest.mark.parametrize(("after_s", "members"), [(179.0, 0), (181.0, 3)])
def test_member_is_open_to_all_once_two_more_intervals_have_gone_by(after_s: float, members: int) -> None:
    assert len(looked(NEVER, after_s=after_s).view.open_to_all) == members


@pytest.mark.req("O-007")
@pytest.mark.parametrize(
    ("after_s", "requests", "overdue"), [(899.0, 500, 0), (901.0, 199, 0), (901.0, 200, 3), (9_000.0, 5, 0)]
)
def test_member_is_overdue_after_a_quarter_of_an_hour_and_200_requests(
    after_s: float, requests: int, overdue: int
) -> None:
    assert len(looked(NEVER, after_s=after_s, requests=requests).view.overdue) == overdue


def test_sums_are_those_of_the_last_hour() -> None:
    probes = looked(NEVER, after_s=61.0, requests=7)
    probes.book(Spent(1.0, 0.25, probed=0))

    probes.look(NEVER, 60.0, NOW + 200.0)
    view = probes.view

    assert (view.requests, view.probes, view.best_usd, view.extra_usd) == (8, 1, 8.0, 0.25)
    probes.look(NEVER, 60.0, NOW + 200.0 + 3_660.0)
    assert (probes.view.requests, probes.view.probes, probes.view.best_usd) == (0, 0, 0.0)


def test_member_that_is_new_is_not_due_and_one_that_is_gone_is_forgotten() -> None:
    probes = looked({"a": NOW}, after_s=300.0)

    probes.look({"new": -math.inf, "a": NOW}, 60.0, NOW + 301.0)

    assert probes.view.due == (1,)
    assert set(probes._asked) == {"new", "a"}


def test_clock_that_steps_back_makes_nobody_due() -> None:
    assert looked({"a": NOW + 100.0, "b": NOW, "c": NOW}, after_s=-500.0).view.due == ()


def test_looks_within_one_minute_add_up() -> None:
    probes = looked(NEVER, after_s=61.0)

    for second in (62.0, 63.0):
        probes.book(Spent(1.0, 0.5, probed=1))
        probes.look(NEVER, 60.0, NOW + second)

    assert (probes.view.probes, probes.view.extra_usd) == (2, 1.0)
