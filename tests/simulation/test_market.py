"""The strategy `market` over minutes of virtual time: the best deal is found, left, and found again."""

import pytest

from pointsman.domain.decision import DecisionMode
from pointsman.domain.price import Price
from pointsman.testing import builders
from tests.simulation.pool import Behaviour, Pool, Script, always, between

ONSET_S, END_S = 120.0, 240.0
CHEAP, MIDDLE, DEAR = builders.price(1, 2), builders.price(1.2, 2.4), builders.price(3, 6)


def pool(
    *scripts: Script, prices: tuple[Price, ...] = (CHEAP, MIDDLE, DEAR), rate_per_s: float = 5.0, seed: int = 1
) -> Pool:
    names = [f"{letter}/m" for letter in "abcd"[: len(scripts)]]
    charged = dict(zip(names, prices, strict=False))
    group = builders.group("chat", *names, strategy="market", prices=charged)
    return Pool(group, dict(zip(names, scripts, strict=True)), rate_per_s=rate_per_s, seed=seed)


@pytest.mark.req("O-002", "O-005")
def test_cheapest_of_equally_good_targets_gets_nearly_everything() -> None:
    sim = pool(always(), always(), always())

    sim.run(300.0)

    assert sim.share("a/m", 60.0, 300.0) > 0.95


@pytest.mark.req("O-007")
def test_every_target_is_asked_again_and_again_at_a_bounded_price() -> None:
    sim = pool(always(), always(), always())

    sim.run(1_800.0)

    for minute in range(3, 30, 3):
        assert sim.share("c/m", 60.0 * minute, 60.0 * (minute + 3)) > 0.0
    assert sim.share("c/m", 0.0, 1_800.0) < 0.02


@pytest.mark.req("O-014", "O-020")
@pytest.mark.parametrize(
    ("trouble", "within_s", "left"),
    [
        (Behaviour(ttft_s=3.0), 30.0, 0.1),
        (Behaviour(ttft_s=None), 5.0, 0.05),
        (Behaviour(limited_ratio=0.9), 5.0, 0.25),
        (Behaviour(error_ratio=0.9), 5.0, 0.1),
    ],
    ids=["slow", "hangs", "429 storm", "fails"],
)
def test_target_in_trouble_loses_its_traffic_and_gets_it_back(trouble: Behaviour, within_s: float, left: float) -> None:
    sim = pool(between(ONSET_S, END_S, trouble), always(), always())

    sim.run(900.0)

    assert sim.share("a/m", 30.0, ONSET_S) > 0.9
    assert sim.share("a/m", ONSET_S + within_s, END_S) < left
    assert sim.share("a/m", 600.0, 900.0) > 0.9


@pytest.mark.req("O-024")
def test_target_that_writes_slowly_loses_its_traffic_within_minutes() -> None:
    sim = pool(between(ONSET_S, 900.0, Behaviour(stream_s=20.0)), always(), always())

    sim.run(900.0)

    assert sim.share("a/m", 30.0, ONSET_S) > 0.9
    assert sim.share("a/m", 600.0, 900.0) < 0.2


def test_traffic_of_a_target_in_trouble_goes_to_the_next_best_not_to_the_dearest() -> None:
    sim = pool(between(ONSET_S, END_S, Behaviour(ttft_s=3.0)), always(), always())

    sim.run(END_S)

    assert sim.share("b/m", ONSET_S + 30.0, END_S) > 10 * sim.share("c/m", ONSET_S + 30.0, END_S)


@pytest.mark.req("O-021")
def test_new_target_that_is_better_is_found() -> None:
    sim = pool(always(), prices=(MIDDLE,))
    sim.run(120.0)
    names = ("a/m", "b/m")
    sim.group = builders.group("chat", *names, strategy="market", prices={"a/m": MIDDLE, "b/m": CHEAP})
    sim.board.keep([sim.group])
    sim._scripts = {name: always() for name in names}

    sim.run(180.0)

    assert sim.share("b/m", 180.0, 300.0) > 0.9


def test_price_that_falls_moves_the_traffic_at_once() -> None:
    sim = pool(always(), always(), prices=(CHEAP, MIDDLE))
    sim.run(120.0)
    sim.group = builders.group("chat", "a/m", "b/m", strategy="market", prices={"a/m": DEAR, "b/m": MIDDLE})
    sim.board.keep([sim.group])

    sim.run(60.0)

    assert sim.share("a/m", 0.0, 120.0) > 0.9
    assert sim.share("b/m", 120.0, 180.0) > 0.95


def test_unpriced_targets_are_told_apart_by_speed() -> None:
    sim = pool(always(1.0), always(0.2), prices=())

    sim.run(300.0)

    assert sim.share("b/m", 60.0, 300.0) > 0.95


def test_thin_traffic_stays_within_the_budget_of_probes() -> None:
    sim = pool(always(), always(), always(), rate_per_s=0.05)

    sim.run(7_200.0)

    assert sim.share("a/m", 0.0, 7_200.0) > 0.85


@pytest.mark.req("X-13")
@pytest.mark.trap("18")
def test_replicas_agree_where_they_know_the_same() -> None:
    sims = [pool(always(), always(0.32), seed=seed, prices=()) for seed in (1, 2)]
    for sim in sims:
        sim.run(5.0)

    first, second = [[name for _, name in sim.picks] for sim in sims]
    assert first[0] == second[0]


def test_exploration_is_told_apart_from_the_market() -> None:
    sim = pool(always(), always(), always())
    sim.run(200.0)

    view = sim.board.view(sim.group, sim.now)

    assert view.probes.probes >= 2
    assert view.probes.requests == pytest.approx(1_000, abs=2)
    assert DecisionMode.EXPLORATION == "exploration"
