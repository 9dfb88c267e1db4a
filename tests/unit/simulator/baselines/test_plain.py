"""Rules that need no document of their own, and the inverse square of the price."""

import random
from collections import Counter

import pytest

from pointsman.simulator.baselines.plain import InverseSquare, LeastBusy, RoundRobin, WeightedRandom
from tests.unit.simulator.baselines.playing import FAULT, OK, picks
from tests.unit.simulator.simulated import request, target

ABC = [target("a", 1.0), target("b", 2.0), target("c", 3.0)]


def test_random_takes_all_targets_alike() -> None:
    counts = picks(WeightedRandom(), ABC, 3_000)

    assert all(abs(count - 1_000) < 100 for count in counts.values())


def test_round_robin_takes_one_after_the_other() -> None:
    balancer, chance = RoundRobin(), random.Random(1)

    assert "".join(balancer.pick(request(), ABC, 0.0, chance).provider for _ in range(6)) == "abcabc"


def test_least_busy_takes_the_fewest_in_flight() -> None:
    balancer = LeastBusy()
    for name in ("a", "b", "b"):
        balancer.sent(name, 0.0)

    assert picks(balancer, ABC, 10) == Counter(c=10)
    balancer.ended("a", OK, 1.0)
    assert set(picks(balancer, ABC, 100)) == {"a", "c"}


def test_inverse_square_prefers_1_usd_nine_times_over_3_usd() -> None:
    """OpenRouter's document: "9x more likely"."""
    counts = picks(InverseSquare(), ABC, 20_000)

    assert counts["a"] / counts["c"] == pytest.approx(9.0, rel=0.1)
    assert counts["a"] / counts["b"] == pytest.approx(4.0, rel=0.1)


def test_inverse_square_leaves_out_who_had_an_outage_in_the_last_30_s() -> None:
    balancer = InverseSquare()
    balancer.ended("a", FAULT, 100.0)

    assert "a" not in picks(balancer, ABC, 100, now=129.0)
    assert "a" in picks(balancer, ABC, 100, now=131.0)


def test_inverse_square_uses_them_all_if_all_had_one() -> None:
    balancer = InverseSquare()
    for name in "abc":
        balancer.ended(name, FAULT, 100.0)

    assert set(picks(balancer, ABC, 500, now=101.0)) == {"a", "b", "c"}
