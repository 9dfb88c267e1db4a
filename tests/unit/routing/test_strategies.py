"""Strategies are presets with a name."""

from typing import get_args

from pointsman.config.schema import AdaptiveSection
from pointsman.config.schema import Strategy as StrategyName
from pointsman.domain.decision import DecisionMode
from pointsman.routing.strategies import ADAPTIVE, SELECTORS, STRATEGIES


def test_configuration_knows_exactly_these_strategies() -> None:
    assert set(get_args(StrategyName)) == {*STRATEGIES, ADAPTIVE}


def test_adaptive_can_select_exactly_these() -> None:
    assert get_args(AdaptiveSection.model_fields["selector"].annotation) == SELECTORS
    assert set(SELECTORS) <= set(STRATEGIES)


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
        "plugin": DecisionMode.PLUGIN,
        "external": DecisionMode.EXTERNAL,
    }
