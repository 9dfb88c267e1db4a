"""In turn, by weight."""

from pointsman.routing.pickers.smooth_round_robin import pick
from tests.unit.routing.asking import Draws


def test_richest_serves_and_pays_the_sum() -> None:
    picked = pick((5.0, 1.0, 1.0), (-4.0, 2.0, 2.0), Draws())

    assert (picked.index, picked.turn_credits) == (1, (1.0, -4.0, 3.0))


def test_first_of_equally_rich_ones_serves() -> None:
    assert pick((1.0, 1.0), (0.0, 0.0), Draws()).index == 0


def test_shares_are_the_weights_and_the_pick_is_certain() -> None:
    picked = pick((3.0, 1.0), (0.0, 0.0), Draws())

    assert (picked.shares, picked.propensity) == ((0.75, 0.25), 1.0)
