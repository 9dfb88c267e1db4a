"""All baselines."""

import pytest

from pointsman.simulator.baselines.registry import BASELINES
from tests.unit.simulator.baselines.playing import FAULT, LIMITED, OK, picks, told
from tests.unit.simulator.simulated import target


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_picks_whatever_has_happened(name: str) -> None:
    balancer = BASELINES[name]()
    for target_name in "abc":
        told(balancer, target_name, *[OK, FAULT, LIMITED] * 20, now=5.0)

    assert picks(balancer, [target("b"), target("c")], 20, now=6.0).keys() <= {"b", "c"}


def test_each_replica_gets_a_baseline_of_its_own() -> None:
    for make in BASELINES.values():
        assert make() is not make()
