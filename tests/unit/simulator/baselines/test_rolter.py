"""Rolter's adaptive strategy, held to its document."""

import pytest

from pointsman.simulator.baselines import rolter
from pointsman.simulator.baselines.rolter import Blend
from tests.unit.simulator.baselines.playing import OK, ok, picks, told
from tests.unit.simulator.simulated import target

AB = [target("a", 1.0), target("b", 4.0)]


def warm() -> Blend:
    balancer = Blend()
    told(balancer, "a", *[ok(1.0)] * 25)
    told(balancer, "b", *[ok(0.5)] * 25)
    return balancer


def test_numbers_are_those_of_the_example_in_its_document() -> None:
    assert (rolter.LATENCY_WEIGHT, rolter.COST_WEIGHT, rolter.LOAD_WEIGHT) == (1.0, 0.5, 0.25)
    assert (rolter.EXPLORATION_RATIO, rolter.MIN_SAMPLES) == (0.05, 50)


def test_score_is_the_weighted_sum_of_three_scores_of_which_the_best_is_1() -> None:
    assert warm().scores(AB) == pytest.approx([1.0 * 0.5 + 0.5 * 1.0 + 0.25, 1.0 * 1.0 + 0.5 * 0.25 + 0.25])


def test_load_pushes_traffic_away() -> None:
    balancer = warm()
    for _ in range(3):
        balancer.sent("b", 0.0)

    assert balancer.scores(AB)[1] == pytest.approx(1.0 + 0.125 + 0.25 * (1.0 - 3 / 4))


def test_best_score_gets_all_but_the_exploration_share() -> None:
    balancer = warm()

    counts = picks(balancer, AB, 4_000)

    assert counts["a"] / 4_000 == pytest.approx(0.05, abs=0.01)


def test_until_min_samples_and_two_latencies_weights_decide() -> None:
    one, few = Blend(), Blend()
    told(one, "a", *[OK] * 60)
    told(few, "a", *[ok(9.0)] * 24)
    told(few, "b", *[ok(0.1)] * 25)

    for balancer in (one, few):
        assert 400 < picks(balancer, AB, 1_000)["a"] < 600
