"""Prequal's rule, with what a gateway knows itself."""

from collections import Counter

import pytest

from pointsman.simulator.baselines import prequal
from pointsman.simulator.baselines.prequal import Prequal
from tests.unit.simulator.baselines.playing import FAULT, ok, picks, told
from tests.unit.simulator.simulated import target

AB = [target("a"), target("b")]


def test_numbers_are_those_of_the_paper() -> None:
    assert pytest.approx(0.84, abs=0.001) == prequal.HOT_QUANTILE
    assert (prequal.POOL, prequal.PROBES) == (16, 3)


def test_of_cold_targets_the_lowest_latency_wins() -> None:
    balancer = Prequal()
    told(balancer, "a", ok(1.0))
    told(balancer, "b", ok(0.5))

    assert picks(balancer, AB, 50) == Counter(b=50)


def test_hot_target_is_avoided_however_fast_it_is() -> None:
    balancer = Prequal()
    told(balancer, "a", ok(1.0))
    told(balancer, "b", ok(0.5))
    picks(balancer, AB, 16)
    for _ in range(30):
        balancer.sent("b", 0.0)

    assert picks(balancer, AB, 1) == Counter(a=1)


def test_quick_failures_do_not_look_fast() -> None:
    balancer = Prequal()
    told(balancer, "a", ok(1.0), FAULT, FAULT)
    told(balancer, "b", ok(0.5))

    assert picks(balancer, AB, 50) == Counter(b=50)
