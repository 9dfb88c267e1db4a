"""Declared order."""

from pointsman.routing.pickers.first import pick
from tests.unit.routing.asking import Draws


def test_first_candidate_serves_whatever_its_weight() -> None:
    picked = pick((1.0, 99.0, 5.0), (), Draws(0.9))

    assert (picked.index, picked.shares, picked.propensity) == (0, (1.0, 0.0, 0.0), 1.0)
    assert picked.turn_credits is None
