"""GoModel's adaptive selector, held to its document."""

import random
from collections import Counter

import pytest
from msgspec import structs

from pointsman.domain.conversation import Session
from pointsman.domain.outcome import Outcome
from pointsman.simulator.baselines import gomodel
from pointsman.simulator.baselines.gomodel import P2c
from tests.unit.simulator.baselines.playing import FAULT, LIMITED, OK, ok, picks, told
from tests.unit.simulator.simulated import request, target

AB = [target("a", 1.0), target("b", 2.0)]


def test_numbers_are_the_defaults_of_its_document() -> None:
    assert gomodel.MIN_WEIGHT_FRACTION == 0.05
    assert (gomodel.COOLDOWN_BASE_S, gomodel.COOLDOWN_MAX_S) == (30.0, 300.0)


def test_twice_the_price_is_a_quarter_of_the_weight_with_the_objective_cost() -> None:
    assert P2c(objective="cost").weights(request(), AB, 0.0) == pytest.approx([1.0, 0.25])


def test_balanced_mixes_price_and_latency() -> None:
    balancer = P2c()
    told(balancer, "a", ok(4.0))
    told(balancer, "b", ok(1.0))

    assert balancer.weights(request(), AB, 0.0) == pytest.approx([0.5, 0.5])


def test_every_target_keeps_a_twentieth_of_the_heaviest_weight() -> None:
    weights = P2c(objective="cost").weights(request(), [target("a", 1.0), target("b", 100.0)], 0.0)

    assert weights == [1.0, 0.05]


def test_lower_latency_times_requests_in_flight_wins() -> None:
    balancer, alike = P2c(), [target("a"), target("b")]
    told(balancer, "a", ok(1.0))
    told(balancer, "b", ok(1.0))
    for name in ("a", "a", "b"):
        balancer.sent(name, 0.0)

    assert picks(balancer, alike, 4_000)["b"] / 4_000 == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(
    ("outcomes", "cooling_s"),
    [
        ([LIMITED], 30.0),
        ([FAULT, FAULT], 0.0),
        ([FAULT, FAULT, FAULT], 30.0),
        ([LIMITED, LIMITED], 60.0),
        ([LIMITED] * 9, 300.0),
        ([structs.replace(FAULT, status=401)], 300.0),
        ([structs.replace(FAULT, status=403)], 300.0),
        ([structs.replace(FAULT, status=404)], 300.0),
        ([LIMITED, OK, LIMITED], 30.0),
    ],
)
def test_cooldown_is_that_of_the_document(outcomes: list[Outcome], cooling_s: float) -> None:
    balancer = P2c()
    told(balancer, "a", *outcomes)

    assert ("a" in picks(balancer, AB, 200, now=max(cooling_s - 1.0, 0.0))) is (cooling_s == 0.0)
    assert "a" in picks(balancer, AB, 200, now=cooling_s)


def test_session_stays_at_its_target_until_that_cools_down() -> None:
    balancer, chance = P2c(), random.Random(1)
    mine = request(session=Session("00", "x-session-id", has_begun=True))
    home = balancer.pick(mine, AB, 0.0, chance).provider

    stayed = Counter(balancer.pick(mine, AB, 0.0, chance).provider for _ in range(50))
    told(balancer, home, LIMITED)
    moved = balancer.pick(mine, AB, 0.0, chance).provider

    assert stayed == Counter({home: 50})
    assert moved != home
    assert balancer.pick(mine, AB, 100.0, chance).provider == moved
