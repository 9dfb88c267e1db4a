"""The best blend of scores, exploration, warm-up, kill switch."""

from typing import Any

import pytest

from pointsman.domain.decision import DecisionMode, FallbackReason
from pointsman.domain.view import Measured
from pointsman.testing import builders
from tests.unit.routing.scorers.contests import verdict


def target(ttft_s: float | None = 0.5, in_flight: int = 0, samples: int = 100) -> Measured:
    unary_s = None if ttft_s is None else 10.0 / ttft_s
    return builders.measured(in_flight, samples=samples, ttft_s=ttft_s, unary_s=unary_s)


@pytest.mark.req("R-001", "R-010", "R-011", "R-059")
def test_score_is_the_weighted_sum_of_its_terms() -> None:
    found = verdict("blend", [target(0.5, in_flight=3), target(2.0)], weights=(1.0, 99.0))

    assert found.terms == {
        "latency_score": (1.0, 0.25),
        "cost_score": (0.5, 0.5),
        "load_score": (0.25, 1.0),
        "score": (1.3125, 0.75),
    }
    assert found.weights == (0.95, 0.05)
    assert found.modes == (DecisionMode.BLEND, DecisionMode.EXPLORATION)


@pytest.mark.bug("P-4")
def test_one_percent_of_latency_moves_a_score_by_one_percent() -> None:
    first, second = verdict("blend", [target(0.100), target(0.101)]).terms["latency_score"]

    assert first - second < 0.05


@pytest.mark.req("R-012")
@pytest.mark.parametrize("factor", [1e-3, 0.1, 3.0, 50.0])
def test_scaling_the_weights_changes_no_choice(factor: float) -> None:
    targets = [target(0.5, in_flight=4), target(0.6, in_flight=1), target(0.6, in_flight=1), target(None)]

    usual = verdict("blend", targets)
    weights = {"latency_weight": factor, "cost_weight": 0.5 * factor, "load_weight": 0.25 * factor}
    scaled = verdict("blend", targets, **weights)

    assert (scaled.weights, scaled.modes) == (usual.weights, usual.modes)


@pytest.mark.req("R-013")
def test_score_without_weight_is_shown_as_zero() -> None:
    found = verdict("blend", [target(0.5), target(2.0, in_flight=1)], latency_weight=0.0)

    assert found.terms["latency_score"] == (0.0, 0.0)
    assert verdict("blend", [target(), target()], load_weight=0.0).terms["load_score"] == (0.0, 0.0)


@pytest.mark.req("R-014")
@pytest.mark.bug("C-03")
def test_equal_leaders_share_the_lead() -> None:
    found = verdict("blend", [target(), target(), target(5.0)], exploration_ratio=0.1)

    assert found.weights == (0.45, 0.45, 0.1)


@pytest.mark.req("R-015")
def test_unsampled_latency_is_neutral() -> None:
    assert verdict("blend", [target(0.5), target(None), target(9.0)]).terms["latency_score"][1] == 0.5


@pytest.mark.req("R-020")
@pytest.mark.bug("P-9")
def test_exploration_is_shared_by_all_but_the_best() -> None:
    found = verdict("blend", [target(0.5), target(2.0), target(3.0)], exploration_ratio=0.2)

    assert found.weights == (0.8, 0.1, 0.1)


@pytest.mark.req("R-023")
def test_without_exploration_the_best_gets_everything() -> None:
    assert verdict("blend", [target(0.5), target(2.0)], exploration_ratio=0.0).weights == (1.0, 0.0)


@pytest.mark.req("R-023")
def test_nobody_is_explored_where_all_are_equal() -> None:
    found = verdict("blend", [target(), target()])

    assert found.weights == (0.5, 0.5)
    assert set(found.modes) == {DecisionMode.BLEND}


@pytest.mark.req("C-08")
def test_whole_answers_are_compared_with_whole_answers() -> None:
    assert verdict("blend", [target(0.5), target(2.0)], stream=False).terms["latency_score"] == (0.25, 1.0)


@pytest.mark.req("C-04", "R-030")
@pytest.mark.parametrize(("served", "reason"), [(49, FallbackReason.WARMING), (50, None)])
def test_blend_engages_after_so_many_requests_of_the_group(served: int, reason: FallbackReason | None) -> None:
    assert verdict("blend", [target(), target()], served=served).fallback is reason


@pytest.mark.req("R-031")
def test_blend_needs_the_latency_of_two_targets() -> None:
    found = verdict("blend", [target(), target(None, samples=0)])

    assert found.fallback is FallbackReason.NO_SIGNAL


@pytest.mark.req("R-033")
def test_blend_of_load_alone_needs_no_latency() -> None:
    found = verdict("blend", [target(None, samples=0)] * 2, latency_weight=0.0)

    assert found.fallback is None


@pytest.mark.req("C-05", "R-032")
def test_until_then_weight_and_load_decide() -> None:
    found = verdict("blend", [target(None, 1, 0), target(None, 0, 0)], weights=(4.0, 1.0), served=0)

    assert found.terms == {
        "session_score": (0.0, 0.0), "weight_score": (1.0, 0.25), "load_score": (0.5, 1.0),
        "prefix_score": (0.0, 0.0), "score": (1.5, 1.25),
    }  # fmt: skip
    assert found.modes[0] is DecisionMode.FALLBACK


@pytest.mark.req("R-032")
@pytest.mark.parametrize("known", [{"home": 2}, {"cached_ratios": (0.0, 0.2, 0.9)}])
def test_until_then_it_counts_who_knows_the_session_or_its_prompt(known: dict[str, Any]) -> None:
    found = verdict("blend", [target(), target(), target()], served=0, exploration_ratio=0.0, **known)

    assert found.weights == (0.0, 0.0, 1.0)


@pytest.mark.req("R-032")
def test_once_engaged_neither_counts() -> None:
    found = verdict("blend", [target(), target()], home=1, cached_ratios=(0.0, 0.9), exploration_ratio=0.0)

    assert found.weights == (0.5, 0.5)


@pytest.mark.req("R-032")
def test_until_then_the_least_sampled_is_explored_so_that_warm_up_ends() -> None:
    targets = [target(samples=40), target(samples=5), target(None, samples=0)]

    found = verdict("blend", targets, weights=(9.0, 1.0, 1.0), served=0)

    assert found.weights == (0.95, 0.0, 0.05)
    assert found.modes[2] is DecisionMode.EXPLORATION


@pytest.mark.req("R-032")
def test_nobody_is_explored_when_the_best_is_the_least_sampled() -> None:
    found = verdict("blend", [target(None, samples=0), target()], weights=(9.0, 1.0), served=0)

    assert found.weights == (1.0, 0.0)


@pytest.mark.req("C-05", "R-040")
def test_kill_switch_shares_by_weight() -> None:
    found = verdict("blend", [target(0.1), target(9.0)], weights=(1.0, 3.0), enabled=False)

    assert (found.weights, found.fallback) == ((1.0, 3.0), FallbackReason.DISABLED)
    assert set(found.modes) == {DecisionMode.FALLBACK}


# --- prices


def cost_scores(*costs_usd: float | None) -> tuple[float, ...]:
    return verdict("blend", [target()] * len(costs_usd), costs_usd=costs_usd).terms["cost_score"]


@pytest.mark.req("R-010")
def test_target_of_twice_the_price_has_half_the_score() -> None:
    assert cost_scores(0.001, 0.002) == (1.0, 0.5)


@pytest.mark.req("R-015")
@pytest.mark.trap("15")
@pytest.mark.bug("C-10")
def test_unknown_price_is_neutral_and_never_free() -> None:
    assert cost_scores(0.001, None, 0.01) == (1.0, 0.5, 0.1)


@pytest.mark.bug("C-10")
def test_free_target_is_best_and_no_division_by_zero() -> None:
    assert cost_scores(0.0, 0.001, 0.0) == (1.0, 0.0, 1.0)


def test_tenfold_price_outweighs_a_gap_of_a_millisecond() -> None:
    found = verdict("blend", [target(0.100), target(0.101)], costs_usd=(0.01, 0.001))

    assert found.weights == (0.05, 0.95)


@pytest.mark.req("R-013")
def test_cost_without_weight_is_shown_as_zero() -> None:
    assert verdict("blend", [target(), target()], costs_usd=(1.0, 2.0), cost_weight=0.0).terms["cost_score"] == (0, 0)


@pytest.mark.req("R-033")
def test_blend_of_cost_alone_needs_no_latency() -> None:
    only_cost = {"latency_weight": 0.0, "load_weight": 0.0}

    found = verdict("blend", [target(None, samples=0)] * 2, costs_usd=(2.0, 1.0), **only_cost)

    assert (found.fallback, found.weights) == (None, (0.05, 0.95))
