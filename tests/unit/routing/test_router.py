"""`decide`: which target, by which rule, with which reasons."""

import random
from collections import Counter

import pytest
from msgspec import structs

from pointsman.domain.decision import DecisionMode, Exclusion
from pointsman.domain.view import PauseCause
from pointsman.routing.router import decide, panic
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, OPEN, PROBING, Draws, decided, paused_for, picked, rules, view_of

ABCD = ("a/m", "b/m", "c/m", "d/m")
STRATEGIES = ["weighted", "round_robin", "failover", "least_busy", "p2c", "blend"]


# --- purity


@pytest.mark.req("X-13")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equal_arguments_give_an_equal_decision(strategy: str) -> None:
    group = builders.group("chat", ("a/m", 70), ("b/m", 30), "c/m", strategy=strategy)
    views = {"b/m": OPEN}

    first, second = decided(group, views, draw=0.7), decided(group, views, draw=0.7)

    assert first == second


def test_decision_does_not_change_what_it_looked_at() -> None:
    group = builders.group("chat", "a/m", "b/m", strategy="round_robin")
    view = view_of(group, turn_credits=(1.0, -1.0))

    decide(builders.ask(), group, view, rng=Draws())

    assert view.turn_credits == (1.0, -1.0)


@pytest.mark.req("X-07")
def test_asking_changes_no_state_of_later_answers() -> None:
    group = builders.group("chat", "a/m", "b/m")
    before = decided(group, {"b/m": HALF_OPEN})

    for _ in range(200):
        decided(group, {"b/m": HALF_OPEN})

    assert decided(group, {"b/m": HALF_OPEN}) == before


# --- weighted


def test_weights_70_to_30_give_shares_70_to_30() -> None:
    group = builders.group("chat", ("a/m", 70), ("b/m", 30))

    decision = decided(group)

    assert (decision.candidates, decision.shares) == (("a/m", "b/m"), (0.7, 0.3))


def test_weights_70_to_30_give_picks_70_to_30_within_sampling_error() -> None:
    group, rng, draws = builders.group("chat", ("a/m", 70), ("b/m", 30)), random.Random(7), 20_000
    view = view_of(group)

    picks = Counter(picked(decide(builders.ask(), group, view, rng=rng)) for _ in range(draws))

    error = 3.29 * (draws * 0.7 * 0.3) ** 0.5  # 99.9 % of all samples lie within
    assert abs(picks["a/m"] - 0.7 * draws) <= error


@pytest.mark.req("D-018")
@pytest.mark.parametrize("weights", [(7.0, 3.0), (0.7, 0.3), (1e9 * 0.7, 1e9 * 0.3), (7e-9, 3e-9)])
def test_weights_need_not_sum_to_a_hundred(weights: tuple[float, float]) -> None:
    group = builders.group("chat", ("a/m", weights[0]), ("b/m", weights[1]))

    assert decided(group).shares == pytest.approx((0.7, 0.3))


@pytest.mark.parametrize(
    ("draw", "target_id", "propensity"), [(0.0, "a/m", 0.7), (0.699, "a/m", 0.7), (0.7, "b/m", 0.3)]
)
def test_propensity_is_the_share_of_the_pick(draw: float, target_id: str, propensity: float) -> None:
    decision = decided(builders.group("chat", ("a/m", 70), ("b/m", 30)), draw=draw)

    assert decision.pick is not None
    assert (picked(decision), decision.pick.mode) == (target_id, DecisionMode.WEIGHTED)
    assert decision.pick.propensity == pytest.approx(propensity)


@pytest.mark.trap("34")
@pytest.mark.bug("C-03")
def test_equal_targets_are_picked_equally_often() -> None:
    group, rng = builders.group("chat", *ABCD), random.Random(3)
    view = view_of(group)

    picks = Counter(picked(decide(builders.ask(), group, view, rng=rng)) for _ in range(4_000))

    assert all(abs(picks[target_id] - 1_000) < 110 for target_id in ABCD)


@pytest.mark.req("X-05")
@pytest.mark.bug("P-5")
def test_load_of_a_paused_target_spreads_by_the_same_rule() -> None:
    decision = decided(builders.group("chat", *ABCD), {"a/m": OPEN})

    assert decision.candidates == ("b/m", "c/m", "d/m")
    assert decision.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.req("X-05")
@pytest.mark.bug("P-5", "B-03")
def test_second_choice_follows_the_weights_of_those_left() -> None:
    group = builders.group("chat", ("a/m", 60), ("b/m", 30), ("c/m", 10))

    decision = decided(group, tried={"a/m"})

    assert decision.shares == pytest.approx((0.75, 0.25))
    assert rules(decision) == {"a/m": Exclusion.TRIED}


# --- failover


def test_failover_takes_the_first_in_declared_order() -> None:
    decision = decided(builders.group("chat", "b/m", "a/m", strategy="failover"), draw=0.99)

    assert decision.pick is not None
    assert (picked(decision), decision.pick.mode, decision.pick.propensity) == ("b/m", DecisionMode.FAILOVER, 1.0)


def test_failover_takes_the_next_that_is_available() -> None:
    group = builders.group("chat", *ABCD, strategy="failover")

    assert picked(decided(group, {"a/m": OPEN}, tried={"b/m"})) == "c/m"


# --- nobody, one, all


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_target_of_weight_zero_is_never_picked(strategy: str) -> None:
    group = builders.group("chat", ("a/m", 0), "b/m", "c/m", strategy=strategy)

    decisions = [decided(group, draw=draw / 10) for draw in range(10)]

    assert "a/m" not in map(picked, decisions)
    assert rules(decisions[0]) == {"a/m": Exclusion.WEIGHT_ZERO}


@pytest.mark.req("G-081")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_single_eligible_target_runs_no_strategy_and_advances_no_state(strategy: str) -> None:
    decision = decided(builders.group("chat", "a/m", ("b/m", 0), strategy=strategy))

    assert decision.pick is not None
    assert (picked(decision), decision.pick.mode, decision.pick.propensity) == ("a/m", DecisionMode.SINGLE, 1.0)
    assert decision.pick.effects.turn_credits is None


@pytest.mark.case("T44")
def test_nobody_is_picked_when_all_are_paused() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m"), {"a/m": OPEN, "b/m": PROBING})

    assert decision.pick is None
    assert rules(decision) == {"a/m": Exclusion.PAUSED, "b/m": Exclusion.PROBING}


def test_nobody_is_picked_when_all_were_tried() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m"), tried={"a/m", "b/m"})

    assert decision.pick is None
    assert rules(decision) == {"a/m": Exclusion.TRIED, "b/m": Exclusion.TRIED}


def test_nobody_is_picked_when_nobody_is_eligible() -> None:
    decision = decided(builders.group("chat", ("a/m", 0)))

    assert decision.pick is None
    assert rules(decision) == {"a/m": Exclusion.WEIGHT_ZERO}


# --- probes


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_recovering_target_takes_the_next_first_attempt_as_its_probe(strategy: str) -> None:
    decision = decided(builders.group("chat", "a/m", "b/m", strategy=strategy), {"b/m": HALF_OPEN})

    assert decision.pick is not None
    assert (picked(decision), decision.pick.mode) == ("b/m", DecisionMode.PROBE)
    assert decision.pick.effects.claim_probe
    assert decision.pick.effects.turn_credits is None


@pytest.mark.req("X-07")
@pytest.mark.case("I30")
def test_target_whose_probe_is_on_its_way_gets_nothing_else() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m"), {"b/m": PROBING})

    assert picked(decision) == "a/m"
    assert rules(decision) == {"b/m": Exclusion.PROBING}


def test_second_attempt_prefers_an_open_target_to_a_probe() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m", "c/m"), {"b/m": HALF_OPEN}, tried={"a/m"})

    assert picked(decision) == "c/m"


def test_second_attempt_is_a_probe_when_nobody_else_is_left() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m"), {"b/m": HALF_OPEN}, tried={"a/m"})

    assert decision.pick is not None
    assert (picked(decision), decision.pick.mode) == ("b/m", DecisionMode.PROBE)


def test_single_target_that_recovers_is_probed_like_any_other() -> None:
    decision = decided(builders.group("chat", "a/m"), {"a/m": HALF_OPEN})

    assert decision.pick is not None
    assert decision.pick.mode is DecisionMode.PROBE


@pytest.mark.trap("28")
def test_long_prompt_is_no_probe_as_long_as_shorter_ones_may_come() -> None:
    group, size = builders.group("chat", "a/m", "b/m"), 1024 * 1024

    assert picked(decided(group, {"b/m": HALF_OPEN}, body_bytes=size)) == "a/m"
    assert picked(decided(group, {"b/m": structs.replace(HALF_OPEN, is_probe_overdue=True)}, body_bytes=size)) == "b/m"
    assert picked(decided(group, {"a/m": HALF_OPEN, "b/m": HALF_OPEN}, body_bytes=size)) == "a/m"


def test_first_of_two_recovering_targets_is_probed_first() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m", "c/m"), {"b/m": HALF_OPEN, "c/m": HALF_OPEN})

    assert picked(decision) == "b/m"


# --- propensities


@pytest.mark.trap("32")
def test_propensities_undo_what_the_policy_prefers() -> None:
    """What another policy would have reached, from the records of this one; the plain mean is far from it."""
    group, rng = builders.group("chat", ("a/m", 9), ("b/m", 1)), random.Random(32)
    succeeds, logged = {"a/m": 0.9, "b/m": 0.5}, []
    for _ in range(20_000):
        pick = decided(group, rng=rng).pick
        assert pick is not None
        logged.append((float(rng.random() < succeeds[pick.target.id]), pick.propensity))

    plain = sum(reward for reward, _ in logged) / len(logged)
    of_equal_shares = sum(reward * 0.5 / propensity for reward, propensity in logged) / len(logged)

    assert plain == pytest.approx(0.86, abs=0.01)
    assert of_equal_shares == pytest.approx(0.7, abs=0.03)


# --- panic


def test_panic_picks_the_named_member_and_keeps_the_reasons() -> None:
    nobody = decided(builders.group("chat", "a/m", "b/m"), {"a/m": OPEN, "b/m": paused_for(5, PauseCause.RATE_LIMIT)})

    decision, pick = panic(nobody, 1)

    assert decision.pick is pick
    assert (pick.target.id, pick.mode, pick.propensity) == ("b/m", DecisionMode.PANIC, 1.0)
    assert decision.excluded == nobody.excluded


# --- edges


def test_thousand_targets_are_decided_among() -> None:
    group = builders.group("chat", *[(f"{number}/m", number % 10) for number in range(1_000)])

    decision = decided(group, {f"{number}/m": OPEN for number in range(500)}, draw=0.5)

    assert len(decision.candidates) == 450
    assert picked(decision) in decision.candidates
    assert sum(decision.shares) == pytest.approx(1.0)


@pytest.mark.parametrize("draw", [0.0, 0.5, 1.0 - 2**-53])
def test_huge_weight_beside_a_tiny_one_gives_finite_shares(draw: float) -> None:
    decision = decided(builders.group("chat", ("a/m", 1e9), ("b/m", 5e-324)), draw=draw)

    assert decision.pick is not None
    assert decision.shares == (1.0, 0.0)
    assert picked(decision) in {"a/m", "b/m"}


# --- gates


GATED = {"a/m": builders.view(gate=0.25)}


@pytest.mark.req("O-012")
def test_target_that_its_gate_does_not_admit_is_out_of_this_decision() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m", strategy="failover"), GATED, draw=0.3)

    assert picked(decision) == "b/m"
    assert rules(decision) == {"a/m": Exclusion.HELD_BACK}
    assert decision.gates == {"a/m": 0.25}


def test_target_that_its_gate_admits_is_a_candidate_as_any_other() -> None:
    decision = decided(builders.group("chat", "a/m", "b/m", strategy="failover"), GATED, draw=0.2)

    assert (picked(decision), decision.candidates, decision.gates) == ("a/m", ("a/m", "b/m"), {"a/m": 0.25})


def test_only_target_left_serves_whatever_its_gate() -> None:
    group = builders.group("chat", "a/m", "b/m", strategy="failover")

    assert picked(decided(group, GATED, draw=0.9, tried=["b/m"])) == "a/m"


@pytest.mark.req("G-081")
def test_gate_of_the_only_eligible_target_is_not_drawn() -> None:
    decision = decided(builders.group("chat", "a/m"), GATED, draw=0.9)

    assert (picked(decision), decision.gates) == ("a/m", {})


def test_decision_among_targets_without_gates_draws_for_the_pick_alone() -> None:
    group = builders.group("chat", "a/m", "b/m", "c/m")
    draws = Draws(0.5, 0.99)

    decide(builders.ask(), group, view_of(group, {"c/m": OPEN}), rng=draws)

    assert draws.random() == 0.99


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_share_of_a_gated_target_is_lower_by_its_gate_in_every_strategy(strategy: str) -> None:
    group, rng = builders.group("chat", "a/m", "b/m", strategy=strategy), random.Random(7)
    view, calm = (view_of(group, seen) for seen in ({"a/m": builders.view(gate=0.5)}, {}))

    gated, free = (
        Counter(
            picked(decide(builders.ask(), group, each, rng=rng, lengths=builders.lengths(group))) for _ in range(4_000)
        )["a/m"]
        for each in (view, calm)
    )

    assert gated == pytest.approx(free / 2, abs=150)


@pytest.mark.parametrize("draw", [0.3, 0.8])
def test_where_no_gate_admits_anybody_the_strategy_chooses_among_the_widest(draw: float) -> None:
    """Else all of the load that nobody wants would go to the first one in the file."""
    full, fuller = builders.view(gate=0.02), builders.view(gate=0.01)
    group = builders.group("chat", "a/m", "b/m", "c/m")

    decision = decided(group, {"a/m": full, "b/m": full, "c/m": fuller}, draw=draw)

    assert decision.candidates == ("a/m", "b/m")
    assert picked(decision) == ("a/m" if draw < 0.5 else "b/m")
