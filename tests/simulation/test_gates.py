"""The gates of the benchmark, on short runs: whole ones take minutes, and `pointsman simulate` shows them."""

from functools import cache

import pytest

from pointsman.simulator.baselines.registry import CLAIRVOYANT
from pointsman.simulator.metrics import Metrics, metrics
from pointsman.simulator.runs import arrivals, run, value_of
from pointsman.simulator.scenario import load

REQUESTS = 2_000  # a tenth: ten times less to learn from, for every second of trouble
SCENARIOS = ("steady", "blackhole", "cold", "outage3")


@cache
def measured(scenario: str, policy: str) -> Metrics:
    plan = load(scenario).scaled(REQUESTS)
    requests = arrivals(plan, 1)
    worth = value_of(plan, requests)
    return metrics(run(plan, policy, requests, worth, seed=1, replicas=1), worth, plan.spell)


def regret(scenario: str, policy: str) -> float:
    return measured(scenario, policy).adjusted_usd / measured(scenario, CLAIRVOYANT).adjusted_usd - 1.0


# 5 % and 25 % are the gates of whole runs; beginning without any knowledge costs the short ones of the others more
@pytest.mark.parametrize(
    ("scenario", "most"), [("steady", 0.07), ("blackhole", 0.09), ("cold", 0.05), ("outage3", 0.25)]
)
def test_market_is_about_as_good_as_who_sees_the_future(scenario: str, most: float) -> None:
    assert regret(scenario, "market") <= most


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_market_shows_no_more_failures_than_allowed_and_no_more_than_chance_does(scenario: str) -> None:
    market, chance = measured(scenario, "market"), measured(scenario, "random")

    assert market.failures <= 0.005
    assert market.failures <= chance.failures


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("policy", ["random", "rolter-blend", "gomodel", "prequal"])
def test_market_is_better_than_what_others_do(scenario: str, policy: str) -> None:
    assert regret(scenario, "market") < regret(scenario, policy)


def test_market_leaves_a_black_hole_within_5_s() -> None:
    detected_s = measured("blackhole", "market").detected_s

    assert detected_s is not None
    assert detected_s <= 5.0
