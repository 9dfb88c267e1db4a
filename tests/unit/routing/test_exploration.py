"""Exploration of `blend`: as much as is configured, and only of targets that may be explored with this request."""

from collections import Counter
from random import Random

import pytest

from pointsman.domain.capability import Capability
from pointsman.domain.decision import DecisionMode
from pointsman.domain.policy import Affinity, AffinityMode, Blend
from pointsman.domain.preferences import Demands
from pointsman.routing.router import decide
from pointsman.testing import builders

DRAWS = 20_000
FAST = builders.measured(samples=100, ttft_s=0.3, unary_s=3.0)
SLOW = builders.measured(samples=100, ttft_s=3.0, unary_s=30.0)
TOOLS = Demands(needs=(Capability.TOOLS,))


def picks(ratio: float, *, home: int | None = None, mode: AffinityMode = AffinityMode.OFF) -> Counter[tuple[str, str]]:
    """Mode and target of many decisions for a request with tools; `d/m` takes none."""
    group = builders.group(
        "chat", "a/m", "b/m", "c/m", "d/m", strategy="blend", blend=Blend(exploration_ratio=ratio),
        traits={"d/m": builders.traits(unable=["tools"])}, affinity=Affinity(mode),
    )  # fmt: skip
    view = builders.group_view(*[builders.view()] * 4, measured=(FAST, SLOW, SLOW, SLOW), served=1_000)
    ask, rng, lengths = builders.ask(stream=True, demands=TOOLS), Random(5), builders.lengths(group)
    found: Counter[tuple[str, str]] = Counter()
    for _ in range(DRAWS):
        pick = decide(ask, group, view, rng=rng, lengths=lengths, home=home).pick
        assert pick is not None
        found[pick.mode, pick.target.id] += 1
    return found


@pytest.mark.req("X-11")
@pytest.mark.parametrize("ratio", [0.01, 0.05, 0.2, 0.5])
def test_measured_share_of_exploration_is_the_configured_one(ratio: float) -> None:
    found = picks(ratio)

    explored = {target_id: times for (mode, target_id), times in found.items() if mode == DecisionMode.EXPLORATION}
    three_sd = 3 * (ratio * (1 - ratio) / DRAWS) ** 0.5
    assert abs(sum(explored.values()) / DRAWS - ratio) < three_sd
    assert set(explored) == {"b/m", "c/m"}


@pytest.mark.req("X-11")
def test_target_that_cannot_serve_the_request_is_never_explored() -> None:
    assert "d/m" not in {target_id for _, target_id in picks(0.5)}


@pytest.mark.req("X-11")
@pytest.mark.parametrize("mode", [AffinityMode.STRICT, AffinityMode.PREFIX, AffinityMode.ECONOMIC])
def test_session_that_is_pinned_is_never_explored_with(mode: AffinityMode) -> None:
    assert picks(0.5, home=1, mode=mode) == {(DecisionMode.PINNED, "b/m"): DRAWS}
