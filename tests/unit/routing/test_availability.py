"""Who can take a request now."""

import pytest

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.view import Limit, TargetView
from pointsman.routing import availability
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, LIMITED, OPEN, PROBING, READMITTED, Draws, view_of

GROUP = builders.group("chat", "a/m", "b/m", "c/m")
NOBODY: frozenset[str] = frozenset()


def test_everybody_is_open_in_a_calm_group() -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP), NOBODY)

    assert (found.open, found.recovering, found.excluded) == ((0, 1, 2), (), ())


def test_only_eligible_members_are_told_apart() -> None:
    found = availability.split(GROUP, (2,), view_of(GROUP, {"a/m": OPEN}), NOBODY)

    assert (found.open, found.excluded) == ((2,), ())


@pytest.mark.parametrize(
    ("view", "rule"), [(OPEN, Exclusion.PAUSED), (PROBING, Exclusion.PROBING), (LIMITED, Exclusion.MAX_RPS)]
)
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


@pytest.mark.parametrize("limit", list(Limit))
def test_every_limit_has_a_rule_of_its_own(limit: Limit) -> None:
    view = view_of(GROUP, {"b/m": builders.view(gate=0.0, limit=limit)})

    assert availability.split(GROUP, (1,), view, NOBODY).excluded == (Excluded("b/m", Exclusion(limit.value)),)


def test_paused_target_that_is_readmitted_takes_traffic() -> None:
    found = availability.split(GROUP, (0, 1, 2), view_of(GROUP, {"b/m": READMITTED}), NOBODY)

    assert (found.open, found.excluded) == ((0, 1, 2), ())


@pytest.mark.req("O-012")
@pytest.mark.parametrize(("draw", "through"), [(0.0, (0, 1, 2)), (0.39, (0, 1, 2)), (0.4, (0, 2)), (0.99, (0, 2))])
def test_target_is_admitted_with_the_probability_of_its_gate(draw: float, through: tuple[int, ...]) -> None:
    view = view_of(GROUP, {"b/m": builders.view(gate=0.4)})

    assert availability.admitted((0, 1, 2), view, Draws(draw)) == through


def test_widest_gate_serves_when_none_has_admitted_its_target() -> None:
    view = view_of(GROUP, {"a/m": builders.view(gate=0.1), "b/m": builders.view(gate=0.3)})

    assert availability.admitted((0, 1), view, Draws(0.9)) == (1,)


def test_target_that_is_to_be_kept_is_admitted_whatever_its_gate() -> None:
    view = view_of(GROUP, {"a/m": builders.view(gate=0.02), "b/m": builders.view(gate=0.02)})

    assert availability.admitted((0, 1, 2), view, Draws(0.9), kept=1) == (1, 2)
