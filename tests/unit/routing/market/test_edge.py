"""The competitive edge."""

import pytest

from pointsman.routing.market.edge import weights


@pytest.mark.req("O-004", "O-005", "O-006")
def test_share_is_flat_near_the_best_and_falls_steeply_past_the_edge() -> None:
    found = weights([1.0, 1.01, 1.05, 1.10, 1.5], eps=0.05, least_usd=0.0)

    assert found == pytest.approx([1.0, 0.998, 0.5, 1 / 17, 1 / 10_001], rel=0.01)


def test_wider_edge_lets_more_in() -> None:
    assert weights([1.0, 1.1], eps=0.1, least_usd=0.0)[1] == pytest.approx(0.5)


@pytest.mark.parametrize("price", [1e300, float("inf")])
def test_nothing_is_so_dear_that_its_share_is_zero_or_no_number(price: float) -> None:
    assert 0.0 < weights([1.0, price], eps=0.001, least_usd=0.0)[1] < 1e-20


@pytest.mark.trap("13")
def test_differences_between_nearly_free_targets_are_noise() -> None:
    assert weights([0.0, 1e-12], eps=0.05, least_usd=1e-6) == [1.0, 1.0]
