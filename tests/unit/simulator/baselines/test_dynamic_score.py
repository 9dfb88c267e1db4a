"""Dynamic score routing, held to its document."""

import random
from collections import Counter

import pytest

from pointsman.domain.conversation import Session
from pointsman.simulator.baselines import dynamic_score
from pointsman.simulator.baselines.dynamic_score import DynamicScore
from tests.unit.simulator.baselines.playing import FAULT, ok, picks, told
from tests.unit.simulator.simulated import request, target

AB = [target("a", 1.0), target("b", 2.0)]


def warm() -> DynamicScore:
    balancer = DynamicScore()
    told(balancer, "a", *[ok(2.0, 4.0)] * 20)
    told(balancer, "b", *[ok(0.5, 1.0)] * 20)
    return balancer


def test_numbers_are_those_of_the_sample_in_its_document() -> None:
    terms = (dynamic_score.COST, dynamic_score.LATENCY, dynamic_score.THROUGHPUT, dynamic_score.RELIABILITY)
    limits = (dynamic_score.MAX_ERROR_RATIO, dynamic_score.MAX_TIMEOUT_RATIO, dynamic_score.MAX_P95_S)

    assert terms == (0.45, 0.25, 0.20, 0.10)
    assert limits == (0.03, 0.02, 10.0)
    assert (dynamic_score.MIN_OBSERVATIONS, dynamic_score.WINDOW_S, dynamic_score.MAX_ADJUSTMENT) == (20, 600.0, 0.7)
    assert (dynamic_score.AFFINITY_TTL_S, dynamic_score.AFFINITY_ENTRIES) == (600.0, 10_000)


def test_score_is_the_weighted_sum_of_the_sample() -> None:
    balancer = warm()
    picks(balancer, AB, 1)

    assert balancer.scores(request(), AB) == pytest.approx(
        [0.45 + 0.25 * 0.25 + 0.20 * 0.25 + 0.10, 0.45 * 0.5 + 0.25 + 0.20 + 0.10]
    )


def test_cold_start_is_deterministic_and_by_weight() -> None:
    assert picks(DynamicScore(), AB, 50) == Counter(a=50)


def test_highest_score_is_picked() -> None:
    assert picks(warm(), AB, 50) == Counter(b=50)


def test_target_above_a_threshold_is_left_out_until_its_failures_leave_the_window() -> None:
    balancer = warm()
    told(balancer, "b", FAULT, now=300.0)

    assert picks(balancer, AB, 50, now=301.0) == Counter(a=50)
    told(balancer, "b", *[ok(0.5, 1.0)] * 20, now=880.0)
    assert picks(balancer, AB, 50, now=901.0) == Counter(b=50)


def test_conversation_keeps_its_first_pick_for_600_s_from_then() -> None:
    balancer, chance = DynamicScore(), random.Random(1)
    mine = request(session=Session("00", "x-session-id", has_begun=True))
    assert balancer.pick(mine, AB, 0.0, chance).provider == "a"
    told(balancer, "a", *[ok(2.0, 4.0)] * 20, now=5.0)
    told(balancer, "b", *[ok(0.5, 1.0)] * 20, now=5.0)

    assert balancer.pick(mine, AB, 599.0, chance).provider == "a"
    assert balancer.pick(mine, AB, 600.0, chance).provider == "b"


def test_pinned_target_above_a_threshold_is_replaced() -> None:
    balancer, chance = DynamicScore(), random.Random(1)
    mine = request(session=Session("00", "x-session-id", has_begun=True))
    balancer.pick(mine, AB, 0.0, chance)
    told(balancer, "a", FAULT)

    assert balancer.pick(mine, AB, 10.0, chance).provider == "b"
