"""Weights to draw by, loads to compare."""

import pytest

from pointsman.domain.decision import DecisionMode, FallbackReason
from pointsman.domain.policy import Objective
from pointsman.testing import builders
from tests.unit.routing.scorers.contests import verdict


def target(ttfb_s: float | None = 0.5, in_flight: int = 0, failure_ratio: float = 0.002) -> object:
    return builders.measured(in_flight, ttfb_s=ttfb_s, failure_ratio=failure_ratio)


def test_target_that_is_twice_as_fast_is_drawn_twice_as_often() -> None:
    assert verdict("p2c", [target(0.5), target(1.0)]).weights == (1.0, 0.5)


@pytest.mark.req("G-064", "G-065", "G-066", "X-04")
@pytest.mark.parametrize(
    ("objective", "weight"), [("latency", 2.0), ("cost", 2.0 / 16.0), ("balanced", (2.0 / 16.0) ** 0.5)]
)
def test_objective_says_what_a_price_four_times_as_high_is_worth(objective: str, weight: float) -> None:
    """The dearer target is twice as fast."""
    found = verdict("p2c", [target(1.0), target(0.5)], costs_usd=(1.0, 4.0), objective=Objective(objective))

    assert found.weights[1] / found.weights[0] == pytest.approx(weight)


@pytest.mark.req("G-065")
def test_double_and_triple_price_are_worth_a_quarter_and_a_ninth() -> None:
    found = verdict("p2c", [target()] * 3, costs_usd=(1.0, 2.0, 3.0), objective=Objective.COST)

    assert found.weights == pytest.approx((1.0, 1 / 4, 1 / 9))


@pytest.mark.req("G-065")
def test_unhealthy_cheap_target_sheds_traffic_all_the_same() -> None:
    found = verdict("p2c", [target(failure_ratio=0.9), target()], costs_usd=(1.0, 2.0), objective=Objective.COST)

    assert found.weights[0] < 0.1 * found.weights[1]


@pytest.mark.req("G-067")
def test_target_without_a_price_counts_as_one_of_median_cost() -> None:
    found = verdict("p2c", [target()] * 4, costs_usd=(1.0, None, 2.0, 9.0), objective=Objective.COST)

    assert found.weights[1] == found.weights[2]


@pytest.mark.parametrize("objective", list(Objective))
def test_while_no_price_is_known_speed_decides(objective: Objective) -> None:
    assert verdict("p2c", [target(0.5), target(1.0)], objective=objective).weights == (1.0, 0.5)


def test_free_target_is_worth_more_than_any_that_costs() -> None:
    found = verdict("p2c", [target(), target()], costs_usd=(0.0, 1e-9), objective=Objective.COST)

    assert found.weights == (1.0, 0.05)


def test_configured_weights_count() -> None:
    assert verdict("p2c", [target(), target()], weights=(3.0, 1.0)).weights == (3.0, 1.0)


@pytest.mark.req("C-12")
def test_unreliable_target_sheds_traffic_by_the_square() -> None:
    found = verdict("p2c", [target(failure_ratio=0.0), target(failure_ratio=0.5)])

    assert found.terms["health"] == (1.0, 0.25)
    assert found.weights == (1.0, 0.25)


@pytest.mark.req("G-062")
@pytest.mark.case("I28")
@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.5])
def test_every_target_keeps_its_floor(fraction: float) -> None:
    found = verdict("p2c", [target(0.1), target(100.0, failure_ratio=0.9)], min_weight_fraction=fraction)

    assert found.weights[0] == 1.0
    assert found.weights[1] >= fraction
    assert found.weights[1] > 0


@pytest.mark.req("G-053", "G-054")
def test_load_is_latency_times_requests_in_flight_and_one_more() -> None:
    assert verdict("p2c", [target(0.5, in_flight=3), target(1.0)]).loads == (2.0, 1.0)


@pytest.mark.req("G-067")
def test_unsampled_target_counts_as_one_of_the_middle() -> None:
    found = verdict("p2c", [target(0.1), target(None), target(0.4), target(2.0)])

    assert found.terms["time_s"] == (0.1, 0.4, 0.4, 2.0)


def test_targets_without_any_sample_are_equal() -> None:
    found = verdict("p2c", [target(None), target(None)])

    assert (found.weights, found.loads) == ((1.0, 1.0), (1.0, 1.0))


def test_target_that_fails_for_certain_divides_nothing_by_zero() -> None:
    found = verdict("p2c", [target(failure_ratio=1.0), target(failure_ratio=1.0)])

    assert found.weights == (1.0, 1.0)


def test_kill_switch_shares_by_weight() -> None:
    found = verdict("p2c", [target(0.1), target(9.0)], weights=(1.0, 3.0), enabled=False)

    assert (found.weights, found.fallback) == ((1.0, 3.0), FallbackReason.DISABLED)
    assert set(found.modes) == {DecisionMode.FALLBACK}
    assert len(set(found.loads)) == 1


@pytest.mark.req("G-063")
@pytest.mark.parametrize(
    ("boost", "share"), [({}, 8.0), ({"warm_cache_weight": 3.0}, 3.0), ({"warm_cache_weight": 1.0}, 1.0)]
)
def test_target_that_answered_the_session_last_is_likelier_to_be_drawn(boost: dict[str, float], share: float) -> None:
    found = verdict("p2c", [target(), target()], home=1, **boost)

    assert found.weights == (1.0, share)


@pytest.mark.req("G-062", "G-063")
def test_floor_is_a_part_of_the_boosted_weight() -> None:
    found = verdict("p2c", [target(), target(9.0)], home=0, min_weight_fraction=0.1)

    assert found.weights == pytest.approx((8.0, 0.8))
