"""A draw in proportion to weight."""

import pytest

from pointsman.routing.pickers.weighted_random import pick
from tests.unit.routing.asking import Draws

ALMOST_ONE = 1.0 - 2**-53


@pytest.mark.parametrize(("draw", "index"), [(0.0, 0), (0.49, 0), (0.5, 1), (0.74, 1), (0.75, 2), (ALMOST_ONE, 2)])
def test_draw_falls_into_the_slice_of_its_candidate(draw: float, index: int) -> None:
    assert pick((2.0, 1.0, 1.0), (), Draws(draw)).index == index


@pytest.mark.parametrize("draw", [0.0, 0.5, ALMOST_ONE])
@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (0.0, 0.0, 3.0), (5e-324, 0.0)])
def test_weight_zero_is_never_drawn(weights: tuple[float, ...], draw: float) -> None:
    assert weights[pick(weights, (), Draws(draw)).index] > 0


@pytest.mark.parametrize("weights", [(0.1,) * 10, (1e9, 1e-9), (1 / 3, 1 / 7, 1 / 11)])
def test_highest_draw_is_still_a_candidate(weights: tuple[float, ...]) -> None:
    assert 0 <= pick(weights, (), Draws(ALMOST_ONE)).index < len(weights)


def test_propensity_is_the_share() -> None:
    drawn = pick((3.0, 1.0), (), Draws(0.9))

    assert (drawn.index, drawn.shares, drawn.propensity) == (1, (0.75, 0.25), 0.25)
    assert drawn.turn_credits is None
