"""What becomes of a target that hangs, slows down, fails or recovers, over minutes of virtual time."""

import random

import pytest

from pointsman.testing import builders
from tests.simulation.pool import Behaviour, Pool, Script, always, between

SCORED = ["least_busy", "p2c", "blend", "market"]
BY_SPEED = ["p2c", "blend", "market"]
ONSET_S, END_S = 60.0, 120.0
HANGS = Behaviour(ttft_s=None)


def pool(strategy: str, a: Script, *, rate_per_s: float = 20.0, **policy: object) -> Pool:
    """`a`, the fastest of three, behaves as told."""
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy=strategy, **policy)
    return Pool(group, {"a/m": a, "b/m": always(0.35), "c/m": always(0.4)}, rate_per_s=rate_per_s)


@pytest.mark.trap("1")
@pytest.mark.bug("C-08")
@pytest.mark.parametrize("strategy", SCORED)
def test_black_hole_loses_its_traffic_within_seconds_and_long_before_any_timeout(strategy: str) -> None:
    sim = pool(strategy, between(ONSET_S, END_S, HANGS))

    sim.run(ONSET_S + 15.0)

    assert sim.share("a/m", 30.0, ONSET_S) > 0.3
    assert sim.share("a/m", ONSET_S + 3.0, ONSET_S + 15.0) < 0.06


@pytest.mark.case("T48")
@pytest.mark.parametrize("strategy", SCORED)
def test_black_hole_that_has_healed_gets_its_traffic_back(strategy: str) -> None:
    sim = pool(strategy, between(ONSET_S, END_S, HANGS))

    sim.run(600.0)

    assert sim.share("a/m", 400.0, 600.0) > 0.9 * sim.share("a/m", 30.0, ONSET_S)


@pytest.mark.parametrize("strategy", BY_SPEED)
def test_target_that_becomes_ten_times_slower_loses_its_traffic_within_half_a_minute(strategy: str) -> None:
    sim = pool(strategy, between(ONSET_S, END_S, Behaviour(ttft_s=3.0)))

    sim.run(END_S)

    assert sim.share("a/m", ONSET_S + 30.0, END_S) < 0.06


@pytest.mark.bug("C-14", "P-8")
@pytest.mark.parametrize(("strategy", "within_s"), [("p2c", 60.0), ("blend", 240.0), ("market", 240.0)])
def test_target_that_is_fast_again_gets_most_of_its_share_back(strategy: str, within_s: float) -> None:
    sim = pool(strategy, between(ONSET_S, END_S, Behaviour(ttft_s=3.0)))

    sim.run(END_S + within_s + 60.0)

    before = sim.share("a/m", 30.0, ONSET_S)
    assert sim.share("a/m", END_S + within_s, END_S + within_s + 60.0) > 0.8 * before


@pytest.mark.trap("2")
@pytest.mark.bug("C-06")
@pytest.mark.parametrize("strategy", BY_SPEED)
def test_quick_errors_attract_no_traffic(strategy: str) -> None:
    sim = pool(strategy, between(ONSET_S, END_S, Behaviour(error_ratio=0.5)))

    sim.run(END_S)

    assert sim.share("a/m", ONSET_S + 20.0, END_S) < 0.5 * sim.share("a/m", 30.0, ONSET_S)


@pytest.mark.bug("C-14")
@pytest.mark.parametrize("strategy", SCORED)
def test_new_target_that_always_fails_costs_next_to_nothing(strategy: str) -> None:
    sim = pool(strategy, always(error_ratio=1.0))

    sim.run(300.0)

    assert sim.share("a/m", 0.0, 300.0) < 0.05


@pytest.mark.trap("34")
@pytest.mark.bug("C-03")
@pytest.mark.parametrize("strategy", ["least_busy", "p2c"])
def test_equal_idle_targets_share_evenly(strategy: str) -> None:
    names = ("a/m", "b/m", "c/m", "d/m")
    group = builders.group("chat", *names, strategy=strategy)
    sim = Pool(group, {name: always() for name in names}, rate_per_s=0.5)  # one request at a time

    sim.run(1_600.0)

    assert sim.shares(0.0, 1_600.0) == {name: pytest.approx(0.25, abs=0.08) for name in names}


@pytest.mark.req("R-032")
@pytest.mark.parametrize("weights", [(1.0, 1.0), (99.0, 1.0)])
def test_warm_up_of_a_blend_always_ends(weights: tuple[float, float]) -> None:
    group = builders.group("chat", ("a/m", weights[0]), ("b/m", weights[1]), strategy="blend")
    sim = Pool(group, {"a/m": always(3.0), "b/m": always(0.3)}, rate_per_s=0.3)

    sim.run(1_200.0)

    assert sim.share("b/m", 900.0, 1_200.0) > 0.9


@pytest.mark.trap("5")
def test_target_that_gets_the_long_prompts_is_not_taken_for_slow() -> None:
    sim = pool("blend", always())
    rng = random.Random(3)
    sim.prompt_bytes = lambda: rng.choice([400, 400, 160_000])

    sim.run(120.0)

    assert sim.share("a/m", 60.0, 120.0) > 0.4


@pytest.mark.case("I3")
@pytest.mark.trap("24")
@pytest.mark.parametrize("strategy", SCORED)
def test_nothing_is_in_flight_when_all_is_over(strategy: str) -> None:
    sim = pool(strategy, between(20.0, 40.0, HANGS))
    sim.run(60.0)

    sim.run_out()

    assert [sim.board.in_flight(member.target) for member in sim.group.members] == [0, 0, 0]
    assert not any(state.waiting for state in sim.board._targets.values())


def test_same_seed_gives_the_same_run() -> None:
    first, second = pool("p2c", always()), pool("p2c", always())

    first.run(30.0)
    second.run(30.0)

    assert first.picks == second.picks
