"""The distribution of a ratio of which some samples are known."""

import pytest

from pointsman.signals.beta import cdf


@pytest.mark.parametrize("x", [0.01, 0.25, 0.5, 0.9])
def test_flat_distribution_is_a_straight_line(x: float) -> None:
    assert cdf(x, 1.0, 1.0) == pytest.approx(x)


@pytest.mark.trap("20")
@pytest.mark.parametrize(
    ("x", "a", "b", "expected"),
    [(0.5, 2.0, 2.0, 0.5), (0.25, 5.0, 1.0, 0.25**5), (0.25, 1.0, 5.0, 1 - 0.75**5), (0.3, 3.0, 4.0, 0.25569)],
)
def test_values_are_those_of_the_closed_forms(x: float, a: float, b: float, expected: float) -> None:
    assert cdf(x, a, b) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("x", "expected"), [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)])
def test_ends_are_certain(x: float, expected: float) -> None:
    assert cdf(x, 0.01, 5_000.0) == expected


@pytest.mark.parametrize(("a", "b"), [(0.01, 5.0), (5.01, 4.99), (2_000.0, 3.0), (50_000.0, 50_000.0)])
def test_it_only_rises_between_zero_and_one(a: float, b: float) -> None:
    values = [cdf(number / 100, a, b) for number in range(101)]

    assert values == sorted(values)
    assert 0.0 <= values[0] <= values[-1] <= 1.0
