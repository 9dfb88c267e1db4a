"""The fewest requests in flight for its weight."""

import pytest

from pointsman.testing import builders
from tests.unit.routing.scorers.contests import verdict


def busy(*in_flight: int, weights: tuple[float, ...] | None = None) -> tuple[float, ...]:
    return verdict("least_busy", [builders.measured(count) for count in in_flight], weights=weights).weights


def test_least_busy_target_gets_the_request() -> None:
    assert busy(3, 1, 2) == (0.0, 1.0, 0.0)


@pytest.mark.bug("C-03")
def test_equal_targets_are_equally_likely() -> None:
    assert busy(1, 0, 0) == (0.0, 1.0, 1.0)


def test_target_of_twice_the_weight_may_be_twice_as_busy() -> None:
    assert busy(1, 0, weights=(2.0, 1.0)) == (1.0, 1.0)
    assert busy(2, 0, weights=(2.0, 1.0)) == (0.0, 1.0)


def test_idle_targets_are_told_apart_by_their_weights() -> None:
    assert busy(0, 0, weights=(2.0, 1.0)) == (1.0, 0.0)
