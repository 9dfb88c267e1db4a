"""What becomes of a group whose targets are at their limits, or dead, over minutes of virtual time."""

import math

import pytest

from pointsman.domain.outcome import LimitedUnit
from pointsman.domain.policy import MARKET, Cooldown, On429
from pointsman.domain.view import Signal
from pointsman.testing import builders
from pointsman.testing.capacity import Capacity
from tests.simulation.pool import Pool, Script, always

MARKET_POLICY = {"cooldown": MARKET, "reads": frozenset((Signal.IN_FLIGHT, Signal.FAILURES, Signal.RATE_LIMITS))}
DEMAND_PER_S = 20.0


def pool(
    *names: str, dead: str = "", limits: dict[str, float] | None = None, strategy: str = "weighted", **policy: object
) -> Pool:
    ids = [f"{name}/m" for name in names]
    scripts: dict[str, Script] = {each: always(error_ratio=1.0 if each[0] in dead else 0.0) for each in ids}
    capacities = {f"{name}/m": Capacity(per_s, max(round(per_s), 1)) for name, per_s in (limits or {}).items()}
    group = builders.group("chat", *ids, strategy=strategy, **policy)
    return Pool(group, scripts, rate_per_s=DEMAND_PER_S, limits=capacities)


def learned(sim: Pool, name: str) -> float | None:
    return sim.board.caps(builders.target(f"{name}/m"), sim.now).get(LimitedUnit.REQUESTS)


@pytest.mark.req("O-012")
@pytest.mark.case("T40")
def test_target_over_its_limit_gets_about_as_much_as_it_takes_and_the_others_the_rest() -> None:
    sim = pool("a", "b", limits={"a": 4.0}, **MARKET_POLICY)

    sim.run(600.0)

    served = sim.share("a/m", 120.0, 600.0) * DEMAND_PER_S
    assert 2.5 < served < 5.0
    assert sim.ends["a/m", "rate_limited"] < 0.15 * sim.ends["a/m", "ok"]


@pytest.mark.req("O-012", "O-013")
def test_survivors_that_carry_most_of_the_demand_never_learn_less_than_they_serve() -> None:
    """Three of five are dead, the other two take 60 % of what is asked for."""
    patient = Cooldown(on_429=On429.RETRY_AFTER_ONLY)
    sim = pool("a", "b", "c", "d", "e", dead="cde", limits={"a": 6.0, "b": 6.0}, cooldown=patient)
    beside = []
    for _ in range(60):
        before = dict(sim.ends)
        sim.run(10.0)
        for name in "ab":
            served_per_s = (sim.ends[f"{name}/m", "ok"] - before.get((f"{name}/m", "ok"), 0)) / 10.0
            beside.append((learned(sim, name) or math.inf) / served_per_s)

    served = sum(count for (_, kind), count in sim.ends.items() if kind == "ok")
    dead = sum(count for (_, kind), count in sim.ends.items() if kind == "upstream_fault")

    assert min(beside) >= 0.75
    assert served >= 0.9 * 12.0 * 600.0
    assert dead / served <= 0.3


@pytest.mark.case("T41")
@pytest.mark.bug("A-10", "A-14")
def test_limit_that_is_gone_is_forgotten_in_bounded_time() -> None:
    sim = pool("a", "b", limits={"a": 2.0}, **MARKET_POLICY)
    sim.run(120.0)
    before = sim.share("a/m", 60.0, 120.0)
    sim._limits = {}

    sim.run(900.0)

    assert before < 0.25
    assert sim.share("a/m", 720.0, 1020.0) == pytest.approx(0.5, abs=0.05)


@pytest.mark.case("T42")
@pytest.mark.trap("29")
@pytest.mark.parametrize("policy", [{}, MARKET_POLICY], ids=["strict", "market"])
def test_recovered_target_gets_its_traffic_back_without_a_flood(policy: dict[str, object]) -> None:
    sim = pool("a", "b", "c", strategy="round_robin", **policy)
    sim._scripts = {**sim._scripts, "a/m": lambda at_s: always(error_ratio=1.0 if 60 <= at_s < 90 else 0.0)(at_s)}

    sim.run(300.0)

    back_at_s = next(at_s for at_s, name in sim.picks if name == "a/m" and at_s > 90.0)
    assert back_at_s < 90.0 + 75.0
    assert sim.share("a/m", back_at_s, back_at_s + 3.0) < 0.15
    assert sim.share("a/m", 240.0, 300.0) == pytest.approx(1 / 3, abs=0.04)
