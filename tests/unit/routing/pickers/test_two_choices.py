"""Two draws with replacement; the lower load wins."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.routing.pickers.two_choices import pick
from tests.unit.routing.asking import Draws


def test_lower_load_of_two_wins_in_either_order() -> None:
    assert pick((1.0, 1.0), (9.0, 1.0), Draws(0.1, 0.9)).index == 1
    assert pick((1.0, 1.0), (9.0, 1.0), Draws(0.9, 0.1)).index == 1


def test_first_drawn_wins_among_equal_loads() -> None:
    assert pick((1.0, 1.0), (2.0, 2.0), Draws(0.9, 0.1)).index == 1


@pytest.mark.req("G-055")
def test_weights_count_in_a_pair() -> None:
    found = pick((0.2, 0.8), (1.0, 2.0), Draws(0.9, 0.9))

    assert found.index == 1
    assert found.shares == pytest.approx((0.2 * 0.2 + 2 * 0.2 * 0.8, 0.8 * 0.8))


def test_equal_loads_share_by_weight() -> None:
    assert pick((3.0, 1.0), (1.0, 1.0), Draws(0.0)).shares == pytest.approx((0.75, 0.25))


def test_propensity_is_the_share_of_the_pick() -> None:
    found = pick((3.0, 1.0), (1.0, 5.0), Draws(0.0))

    assert found.propensity == found.shares[found.index]


candidates = st.lists(st.tuples(st.floats(1e-9, 1e9), st.sampled_from([0.1, 1.0, 1.0, 7.5])), min_size=1, max_size=8)


@pytest.mark.case("I28")
@given(rows=candidates)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_shares_sum_to_one(rows: list[tuple[float, float]]) -> None:
    weights, loads = zip(*rows, strict=True)

    assert sum(pick(weights, loads, Draws(0.5)).shares) == pytest.approx(1.0, abs=1e-9)


def test_picks_come_as_often_as_the_shares_say() -> None:
    weights, loads, rng, count = (5.0, 3.0, 1.0, 1.0), (4.0, 2.0, 2.0, 1.0), random.Random(1), 20_000

    served = Counter(pick(weights, loads, rng).index for _ in range(count))

    shares = pick(weights, loads, rng).shares
    assert [served[index] / count for index in range(4)] == pytest.approx(list(shares), abs=0.015)
