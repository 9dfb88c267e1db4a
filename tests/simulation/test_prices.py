"""Targets that charge other than their list price, over minutes of virtual time."""

import pytest

from pointsman.testing import builders
from tests.simulation.pool import Behaviour, Pool

LIST = {"a/m": builders.price(1, 4), "b/m": builders.price(1.5, 6)}


@pytest.mark.req("O-020", "O-022")
@pytest.mark.parametrize("strategy", ["cost", "market"])
def test_traffic_leaves_a_target_that_begins_to_charge_three_times_its_list_price_and_comes_back(strategy: str) -> None:
    def charging(at_s: float) -> Behaviour:
        return Behaviour(0.3, charge_ratio=3.0 if 120.0 <= at_s < 600.0 else 1.0)

    group = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=LIST)
    sim = Pool(group, {"a/m": charging, "b/m": lambda _: Behaviour(0.3)})

    sim.run(7_200.0)

    assert sim.share("a/m", 0.0, 120.0) > 0.9
    assert sim.share("a/m", 180.0, 600.0) < 0.1
    assert sim.share("a/m", 6_600.0, 7_200.0) > 0.9
