"""`decide` with strategies that compare targets: every edge, and what the decision says."""

from collections import Counter
from random import Random

import pytest
from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.decision import Decision, DecisionMode, FallbackReason
from pointsman.domain.policy import Affinity, AffinityMode, Blend
from pointsman.domain.view import Measured, ProbeView, TargetView
from pointsman.routing.router import decide, standing
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, picked

SCORED = ["least_busy", "p2c", "blend", "market"]
FAST = builders.measured(samples=100, ttft_s=0.3, unary_s=3.0, ttfb_s=0.3, failure_ratio=0.002)
SLOW = builders.measured(samples=100, ttft_s=3.0, unary_s=30.0, ttfb_s=3.0, failure_ratio=0.002)
NEW = builders.measured()


def decided(
    strategy: str,
    *measured: Measured,
    weights: tuple[float, ...] | None = None,
    views: tuple[TargetView, ...] | None = None,
    seed: int = 1,
    served: int = 1_000,
) -> Decision:
    ids = [f"{number}/m" for number in range(len(measured))]
    group = builders.group("chat", *zip(ids, weights or [1.0] * len(ids), strict=True), strategy=strategy)
    seen = views or (builders.view(),) * len(ids)
    view = builders.group_view(*seen, measured=measured, served=served)
    return decide(_ask(seed), group, view, rng=Random(seed), lengths=builders.lengths(group))


def _ask(seed: int) -> Ask:
    return builders.ask(request_id=f"req-{seed}", stream=True)


def shares(*arguments: object, **options: object) -> list[float]:
    return list(decided(*arguments, **options).shares)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", SCORED)
@pytest.mark.bug("C-03")
def test_equal_targets_get_equal_shares(strategy: str) -> None:
    count = 4_000
    served = Counter(picked(decided(strategy, FAST, FAST, FAST, FAST, seed=seed)) for seed in range(count))

    assert shares(strategy, FAST, FAST, FAST, FAST) == pytest.approx([0.25] * 4)
    assert all(abs(served[f"{number}/m"] / count - 0.25) < 0.03 for number in range(4))


@pytest.mark.parametrize("strategy", ["p2c", "blend"])
def test_fast_target_gets_nearly_everything(strategy: str) -> None:
    assert shares(strategy, SLOW, FAST)[1] > 0.9


@pytest.mark.parametrize("strategy", SCORED)
def test_targets_of_which_nothing_is_known_are_served(strategy: str) -> None:
    assert shares(strategy, NEW, NEW, served=0) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("strategy", SCORED)
def test_one_huge_outlier_leaves_the_others_alone(strategy: str) -> None:
    outlier = builders.measured(9_999, samples=1, ttft_s=1e6, unary_s=1e6, ttfb_s=1e6, failure_ratio=1.0)

    found = shares(strategy, outlier, FAST, FAST)

    assert found[1] == pytest.approx(found[2])
    assert found[0] <= 0.05


@pytest.mark.bug("C-14")
@pytest.mark.parametrize("strategy", ["p2c", "blend"])
def test_new_target_beside_a_fast_and_a_slow_one_is_no_favourite(strategy: str) -> None:
    found = dict(zip(("fast", "slow", "new"), shares(strategy, FAST, SLOW, NEW), strict=True))

    assert found["fast"] > 0.4
    assert found["new"] < found["fast"] + 0.01


@pytest.mark.req("R-024", "X-11")
@pytest.mark.parametrize("strategy", SCORED)
def test_paused_target_is_no_candidate_even_for_exploration(strategy: str) -> None:
    found = decided(strategy, FAST, SLOW, SLOW, views=(builders.view(), OPEN, builders.view()))

    assert found.candidates == ("0/m", "2/m")
    assert found.scores is not None
    assert found.scores.measured == (FAST, SLOW)


@pytest.mark.parametrize("strategy", SCORED)
def test_thousand_targets_are_compared(strategy: str) -> None:
    found = decided(strategy, *[FAST, SLOW] * 500)

    assert sum(found.shares) == pytest.approx(1.0, abs=1e-9)
    assert found.pick is not None


@pytest.mark.req("R-030")
def test_decision_says_why_scores_did_not_decide() -> None:
    found = decided("blend", FAST, SLOW, served=0)

    assert found.pick is not None
    assert found.scores is not None
    assert (found.pick.mode, found.scores.fallback) == (DecisionMode.FALLBACK, FallbackReason.WARMING)


@pytest.mark.req("R-020", "X-11")
def test_exploration_is_of_its_own_mode_and_as_frequent_as_it_should_be() -> None:
    count = 4_000

    modes = Counter(found.pick.mode for seed in range(count) if (found := decided("blend", FAST, SLOW, seed=seed)).pick)

    assert set(modes) == {DecisionMode.BLEND, DecisionMode.EXPLORATION}
    assert abs(modes[DecisionMode.EXPLORATION] / count - 0.05) < 0.012


# --- standings


def test_strategy_without_scores_has_no_standing() -> None:
    group = builders.group("chat", "a/m", "b/m")

    assert standing(group, builders.group_view(builders.view(), builders.view())) is None


@pytest.mark.req("R-060")
def test_standing_is_of_all_targets_with_a_weight_also_of_paused_ones() -> None:
    group = builders.group("chat", "a/m", ("b/m", 0), "c/m", strategy="blend")
    view = builders.group_view(builders.view(), builders.view(), OPEN, measured=(FAST, FAST, SLOW), served=50)

    found = standing(group, view)

    assert found is not None
    ids, verdict = found
    assert ids == ("a/m", "c/m")
    assert verdict.terms["score"] == pytest.approx((1.5, 0.6))


# --- exploration


@pytest.mark.req("C-03")
def test_blend_explores_by_its_ratio_among_those_that_can_serve_and_says_so() -> None:
    views = (builders.view(), builders.view(), OPEN)
    found = [decided("blend", FAST, SLOW, SLOW, views=views, seed=seed).pick for seed in range(4_000)]

    explored = Counter(pick.target.id for pick in found if pick is not None and pick.mode is DecisionMode.EXPLORATION)

    assert set(explored) == {"1/m"}
    assert explored["1/m"] / 4_000 == pytest.approx(0.05, abs=0.01)


@pytest.mark.req("C-03")
@pytest.mark.parametrize("strategy", SCORED)
def test_exploration_never_moves_a_pinned_session(strategy: str) -> None:
    affinity = Affinity(AffinityMode.STRICT)
    group = builders.group(
        "chat", "0/m", "1/m", strategy=strategy, affinity=affinity, blend=Blend(exploration_ratio=0.5)
    )
    probes = ProbeView(due=(1,), overdue=frozenset((1,)), requests=1_000)
    view = builders.group_view(builders.view(), builders.view(), measured=(SLOW, FAST), served=1_000)
    view = structs.replace(view, probes=probes)
    asks = [builders.ask(request_id=f"req-{seed}", session=builders.session(has_begun=True)) for seed in range(200)]

    found = {
        decide(ask, group, view, rng=Random(seed), lengths=builders.lengths(group), home=0).pick
        for seed, ask in enumerate(asks)
    }

    assert {(pick.target.id, pick.mode) for pick in found if pick is not None} == {("0/m", DecisionMode.PINNED)}


@pytest.mark.req("C-03")
def test_floor_of_p2c_is_its_way_to_explore() -> None:
    hopeless = builders.measured(samples=100, ttfb_s=300.0, failure_ratio=0.9)
    found = decided("p2c", FAST, hopeless)

    assert found.scores is not None
    assert found.scores.terms["weight"] == pytest.approx((1.0, 0.05))
