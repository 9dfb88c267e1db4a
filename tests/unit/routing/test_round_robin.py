"""`decide` in turn: exact, without clumps, untouched by who is away."""

from collections import Counter

import pytest

from pointsman.domain.target import ModelGroup
from pointsman.domain.view import TargetView
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, decided


def turns(group: ModelGroup, count: int, views: dict[str, TargetView] | None = None) -> list[str]:
    """Who serves, turn by turn."""
    credits: tuple[float, ...] = (0.0,) * len(group.members)
    served = []
    for _ in range(count):
        pick = decided(group, views, turn_credits=credits).pick
        assert pick is not None
        assert pick.effects.turn_credits is not None
        credits = pick.effects.turn_credits
        served.append(pick.target.id)
    return served


@pytest.mark.parametrize("weights", [(5, 1, 1), (1, 1, 1, 1), (70, 30), (3, 2), (1, 1000), (0.7, 0.2, 0.1)])
def test_every_target_stays_within_one_of_its_share_at_any_time(weights: tuple[float, ...]) -> None:
    ids = [f"{number}/m" for number in range(len(weights))]
    group = builders.group("chat", *zip(ids, weights, strict=True), strategy="round_robin")
    shares = {target_id: weight / sum(weights) for target_id, weight in zip(ids, weights, strict=True)}

    served = Counter[str]()
    for turn, target_id in enumerate(turns(group, 500), 1):
        served[target_id] += 1
        assert all(abs(served[one] - turn * share) < 1 + 1e-6 for one, share in shares.items())


def test_heavy_target_makes_no_clumps() -> None:
    group = builders.group("chat", ("a/m", 5), ("b/m", 1), ("c/m", 1), strategy="round_robin")

    assert "".join(target_id[0] for target_id in turns(group, 7)) == "aabacaa"


def test_paused_target_keeps_what_it_is_owed() -> None:
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy="round_robin")

    decision = decided(group, {"b/m": OPEN}, turn_credits=(1.0, -2.0, 1.0))

    assert decision.pick is not None
    assert decision.pick.effects.turn_credits == (0.0, -2.0, 2.0)


@pytest.mark.bug("P-5")
def test_turns_of_a_paused_target_are_shared_evenly() -> None:
    group = builders.group("chat", "a/m", "b/m", "c/m", "d/m", strategy="round_robin")

    served = Counter(turns(group, 300, {"a/m": OPEN}))

    assert served == {"b/m": 100, "c/m": 100, "d/m": 100}
