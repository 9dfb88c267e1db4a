"""Strategies are presets with a name."""

from random import Random
from typing import get_args

import pytest

from pointsman.config.schema import AdaptiveSection
from pointsman.config.schema import Strategy as StrategyName
from pointsman.domain.decision import DecisionMode
from pointsman.domain.view import Signal
from pointsman.routing.pickers import PICKERS
from pointsman.routing.strategies import ADAPTIVE, PRESETS, SELECTORS, STRATEGIES


def test_configuration_knows_exactly_these_strategies() -> None:
    assert set(get_args(StrategyName)) == {*STRATEGIES, ADAPTIVE}


def test_adaptive_can_select_exactly_these() -> None:
    assert get_args(AdaptiveSection.model_fields["selector"].annotation) == SELECTORS
    assert set(SELECTORS) <= set(STRATEGIES)


@pytest.mark.req("C-01")
def test_each_strategy_has_a_picker_of_the_one_registry() -> None:
    """In proportion, in turn, in order, of two draws, by rendezvous: a picker is handed weights and knows no more."""
    names = {picker: name for name, picker in PICKERS.items()}

    assert {name: names[row.pick] for name, row in PRESETS.items()} == {
        "weighted": "weighted_random",
        "round_robin": "smooth_round_robin",
        "failover": "first",
        "cost": "weighted_random",
        "inverse_square": "weighted_random",
        "least_busy": "weighted_random",
        "p2c": "two_choices",
        "blend": "weighted_random",
        "market": "rendezvous",
        "dynamic_score": "weighted_random",
        "latency": "weighted_random",
        "throughput": "weighted_random",
        "plugin": "weighted_random",
        "external": "weighted_random",
    }


@pytest.mark.req("C-01")
@pytest.mark.parametrize("picker", sorted(PICKERS))
def test_every_picker_takes_the_same_weights_and_answers_in_the_same_form(picker: str) -> None:
    pick = PICKERS[picker]((3.0, 1.0, 2.0), (0.4, 0.2, 0.9), Random(5))

    assert 0 <= pick.index < 3
    assert sum(pick.shares) == pytest.approx(1.0)
    assert 0.0 < pick.propensity <= 1.0


@pytest.mark.req("C-08")
def test_each_strategy_names_the_latency_that_it_means() -> None:
    """Blend the first content or the whole, p2c the first byte, market first content and speed, scores the whole."""
    latencies = {Signal.TTFB, Signal.TTFT, Signal.MONEY, Signal.WINDOW}

    named = {name: {each.value for each in row.reads & latencies} for name, row in STRATEGIES.items()}

    assert {name: found for name, found in named.items() if found} == {
        "blend": {"ttft"},
        "p2c": {"ttfb"},
        "market": {"ttft", "money"},
        "dynamic_score": {"window"},
        "plugin": {"ttft"},
        "external": {"ttft"},
    }


def test_decisions_name_the_strategy_that_made_them() -> None:
    assert {name: strategy.mode for name, strategy in STRATEGIES.items()} == {
        "weighted": DecisionMode.WEIGHTED,
        "round_robin": DecisionMode.ROUND_ROBIN,
        "failover": DecisionMode.FAILOVER,
        "cost": DecisionMode.COST,
        "inverse_square": DecisionMode.INVERSE_SQUARE,
        "least_busy": DecisionMode.LEAST_BUSY,
        "p2c": DecisionMode.P2C,
        "blend": DecisionMode.BLEND,
        "market": DecisionMode.MARKET,
        "dynamic_score": DecisionMode.SCORE,
        "plugin": DecisionMode.PLUGIN,
        "external": DecisionMode.EXTERNAL,
    }
