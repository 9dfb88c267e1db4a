"""Who can take a request now."""

import pytest

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.view import TargetView
from pointsman.routing import availability
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, OPEN, PROBING, view_of

GROUP = builders.group("chat", "a/m", "b/m", "c/m")
NOBODY: frozenset[str] = frozenset()


def test_everybody_is_open_in_a_calm_group() -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP), NOBODY)

    assert (found.open, found.recovering, found.excluded) == ((0, 1, 2), (), ())


def test_only_eligible_members_are_told_apart() -> None:
    found = availability.split(GROUP, (2,), view_of(GROUP, {"a/m": OPEN}), NOBODY)

    assert (found.open, found.excluded) == ((2,), ())


@pytest.mark.parametrize(("view", "rule"), [(OPEN, Exclusion.PAUSED), (PROBING, Exclusion.PROBING)])
def test_unavailable_target_is_excluded_with_the_rule(view: TargetView, rule: Exclusion) -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP, {"b/m": view}), NOBODY)

    assert (found.open, found.recovering) == ((0, 2), ())
    assert found.excluded == (Excluded("b/m", rule),)


@pytest.mark.parametrize("view", [builders.view(), OPEN, HALF_OPEN, PROBING])
def test_tried_target_is_excluded_whatever_its_state(view: TargetView) -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP, {"b/m": view}), frozenset({"b/m"}))

    assert found.excluded == (Excluded("b/m", Exclusion.TRIED),)


def test_half_open_target_with_a_free_permit_is_recovering() -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP, {"b/m": HALF_OPEN}), NOBODY)

    assert (found.open, found.recovering, found.excluded) == ((0, 2), (1,), ())
