"""Targets that get slow under load, over minutes of virtual time: engines with a few slots beside hosted models."""

import pytest

from pointsman.domain.price import Price, Rates
from pointsman.testing import builders
from tests.simulation.pool import Behaviour, Pool, Script, always

CHEAP = Price(Rates(0.1, 0.4, 0.1, 0.1), "test")
DEAR = Price(Rates(0.3, 1.2, 0.3, 0.3), "test")


def engine(knee: float = 8.0) -> Script:
    return lambda _: Behaviour(0.4, knee=knee, stream_s=2.0)


def pool(strategy: str, *, rate_per_s: float) -> Pool:
    """`a` is an engine that takes some three requests per second, `b` a hosted model at three times the price."""
    group = builders.group("chat", "a/m", "b/m", strategy=strategy, prices={"a/m": CHEAP, "b/m": DEAR})
    return Pool(group, {"a/m": engine(), "b/m": always(0.6)}, rate_per_s=rate_per_s)


def p95_s(sim: Pool, target_id: str, begin_s: float, end_s: float) -> float:
    times_s = sorted(took for at_s, took in sim.ttfts_s[target_id] if begin_s <= at_s < end_s)
    return times_s[int(0.95 * len(times_s))]


def test_slope_of_an_engine_is_learned_and_that_of_a_hosted_model_stays_flat() -> None:
    sim = pool("market", rate_per_s=8.0)

    sim.run(300.0)

    learned = {name: sim.board.learned(builders.target(f"{name}/m"), sim.now).load_slope for name in "ab"}
    assert learned["a"] > 0.25 > learned["b"]


def test_cheap_engine_is_filled_as_far_as_it_stays_fast_and_the_rest_goes_elsewhere() -> None:
    sim = pool("market", rate_per_s=14.0)

    sim.run(600.0)

    assert 0.15 < sim.share("a/m", 120.0, 600.0) < 0.3
    assert p95_s(sim, "a/m", 120.0, 600.0) < 3.0  # without a limit 4 s, at the same share


def test_engine_that_is_slow_by_nature_is_filled_as_far_as_its_own_latency_allows() -> None:
    """3 s at light load is eight times as long as usual, and no overload; with 18 in flight it is 2.5 times as much."""
    group = builders.group("chat", "a/m", "b/m", strategy="p2c", prices={"a/m": CHEAP, "b/m": builders.price(20, 80)})
    slow: Script = lambda _: Behaviour(3.0, knee=16.0, stream_s=2.0)  # noqa: E731
    sim = Pool(group, {"a/m": slow, "b/m": always(0.6)}, rate_per_s=8.0)

    sim.run(600.0)

    assert sim.share("a/m", 120.0, 600.0) * 8.0 > 1.5
    assert sim.ends["a/m", "upstream_fault"] < 0.15 * sim.ends["a/m", "ok"]


@pytest.mark.parametrize("strategy", ["market", "p2c"])
def test_overload_costs_attempts_until_it_is_learned_and_none_afterwards(strategy: str) -> None:
    sim = pool(strategy, rate_per_s=14.0)
    sim.run(90.0)
    before = sim.ends["a/m", "upstream_fault"]

    sim.run(510.0)

    assert sim.ends["a/m", "upstream_fault"] == before


def test_engine_that_was_overrun_is_not_taken_for_a_slow_one() -> None:
    """What made it slow was the load, and that is gone: without the slope it gets nothing for three minutes more."""
    sim = pool("market", rate_per_s=20.0)

    sim.run(240.0)

    assert sim.share("a/m", 60.0, 120.0) > 0.01
    assert sim.share("a/m", 120.0, 240.0) > 0.1


def test_engine_that_gets_more_slots_takes_more_within_minutes() -> None:
    sim = pool("market", rate_per_s=14.0)
    sim.run(300.0)
    before = sim.share("a/m", 120.0, 300.0)
    sim._scripts = {**sim._scripts, "a/m": engine(knee=40.0)}

    sim.run(600.0)

    assert sim.share("a/m", 600.0, 900.0) > 2.0 * before


def test_learned_limit_and_slope_survive_another_configuration() -> None:
    sim = pool("p2c", rate_per_s=14.0)
    sim.run(300.0)
    target = builders.target("a/m")
    before = sim.board.learned(target, sim.now)

    sim.board.keep([builders.group("other", "a/m", "c/m", strategy="round_robin")])

    assert sim.board.learned(target, sim.now) == before
    assert before.in_flight_limit is not None
    assert before.in_flight_limit < 20.0
