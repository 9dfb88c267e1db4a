"""Weighted rendezvous."""

import math
from collections import Counter

import pytest

from pointsman.routing.market.draws import draws
from pointsman.routing.pickers.rendezvous import pick
from tests.unit.routing.asking import Draws

IDS = (b"a", b"b", b"c")
COUNT = 6_000


def picked(weights: tuple[float, ...], number: int) -> int:
    loads = tuple(-math.log(uniform) for uniform, _ in draws(f"req-{number}", IDS[: len(weights)]))
    return pick(weights, loads, Draws()).index


def test_shares_are_in_proportion_to_weight() -> None:
    counts = Counter(picked((6.0, 3.0, 1.0), number) for number in range(COUNT))

    assert [counts[index] / COUNT for index in range(3)] == pytest.approx([0.6, 0.3, 0.1], abs=0.02)
    assert pick((6.0, 3.0, 1.0), (1.0, 1.0, 1.0), Draws()).shares == pytest.approx((0.6, 0.3, 0.1))


def test_only_those_move_that_have_to_when_a_weight_changes() -> None:
    moved = sum(picked((1.0, 1.0), number) != picked((1.0, 0.9), number) for number in range(COUNT))

    assert moved / COUNT == pytest.approx(0.5 - 0.9 / 1.9, abs=0.01)


def test_weight_of_zero_is_never_picked() -> None:
    assert pick((0.0, 1.0), (0.0, 9.0), Draws()).index == 1
