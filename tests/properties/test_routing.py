"""Decisions and exchanges under any circumstances."""

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs

from pointsman.domain.capability import Capability
from pointsman.domain.decision import Decision, DecisionMode
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import DEFAULT_MAX_ATTEMPTS, Affinity, AffinityMode, Blend, OnAllUnavailable, P2c, Retry
from pointsman.domain.preferences import Demands, Preferences
from pointsman.domain.target import ModelGroup
from pointsman.domain.traits import Traits
from pointsman.domain.view import Breaker, GroupView, Limit, Measured, PauseCause, TargetView
from pointsman.routing import retry
from pointsman.routing import strategies as routing_strategies
from pointsman.routing.arrange import arranged
from pointsman.routing.exchange import Exchange, Finish, Wait
from pointsman.routing.filters.abilities import SURE_RATIO
from pointsman.routing.pickers.smooth_round_robin import pick as next_turn
from pointsman.routing.router import decide
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders
from tests.properties.thorough import thorough

STRATEGIES = tuple(routing_strategies.PRESETS)
THOROUGH = thorough(300)

weights = st.sampled_from([0.0, 1e-9, 0.5, 1.0, 30.0, 70.0, 1e9]) | st.floats(0.0, 1e9)
views = st.builds(
    TargetView,
    breaker=st.sampled_from(Breaker),
    pause_cause=st.sampled_from(PauseCause),
    paused_until=st.floats(0.0, 2_000.0),
    is_probing=st.booleans(),
    is_readmitted=st.booleans(),
    gate=st.just(1.0) | st.floats(0.02, 1.0),
) | st.builds(TargetView, gate=st.just(0.0), limit=st.sampled_from(Limit), limited_until=st.floats(0.0, 2_000.0))


prices = st.none() | st.builds(builders.price, st.floats(0.0, 1e6), st.floats(0.0, 1e6))
times_s = st.none() | st.sampled_from([1e-9, 0.3, 0.3, 600.0]) | st.floats(1e-6, 1e6)
numbers = st.builds(
    Measured,
    in_flight=st.integers(0, 3) | st.integers(0, 10_000),
    overdue=st.integers(0, 64),
    samples=st.sampled_from([0, 1, 500]),
    ttft_s=times_s,
    unary_s=times_s,
    ttfb_s=times_s,
    failure_ratio=st.none() | st.floats(0.0, 1.0),
)
routing = st.fixed_dictionaries(
    {
        "blend": st.builds(
            Blend,
            enabled=st.booleans(),
            latency_weight=st.sampled_from([1e-9, 1.0, 100.0]),
            cost_weight=st.sampled_from([0.0, 0.5]),
            load_weight=st.sampled_from([0.0, 0.25, 100.0]),
            exploration_ratio=st.floats(0.0, 0.5),
            min_samples=st.sampled_from([0, 50]),
        ),
        "p2c": st.builds(P2c, enabled=st.booleans(), min_weight_fraction=st.floats(0.0, 0.5)),
    }
)


class Situation(Struct, frozen=True):
    """All that a decision looks at."""

    group: ModelGroup
    view: GroupView
    tried: frozenset[str]
    seed: int
    home: int | None  # of the session
    cached_tokens: tuple[int, ...]

    def decision(self) -> Decision:
        """What `decide` says."""
        rng = random.Random(self.seed)
        lengths = structs.replace(builders.lengths(self.group), cached_tokens=self.cached_tokens)
        return decide(builders.ask(), self.group, self.view, rng=rng, tried=self.tried, lengths=lengths, home=self.home)


@st.composite
def situations(draw: st.DrawFn, strategies: Sequence[str] = STRATEGIES) -> Situation:
    count = draw(st.integers(1, 8))
    ids = [f"{number}/m" for number in range(count)]
    affinity = Affinity(draw(st.sampled_from(AffinityMode)))
    members = [(target_id, draw(weights)) for target_id in ids]
    charged = {target_id: price for target_id in ids if (price := draw(prices)) is not None}
    strategy = draw(st.sampled_from(strategies))
    group = builders.group("chat", *members, strategy=strategy, prices=charged, affinity=affinity, **draw(routing))
    seen = draw(st.lists(views | st.just(TargetView()), min_size=count, max_size=count))
    credits = tuple(draw(st.lists(st.floats(-1e9, 1e9), min_size=count, max_size=count)))
    tried = draw(st.frozensets(st.sampled_from(ids)))
    measured = tuple(draw(st.lists(numbers, min_size=count, max_size=count)))
    view = builders.group_view(*seen, turn_credits=credits, measured=measured, served=draw(st.sampled_from([0, 50])))
    home = draw(st.none() | st.integers(0, count - 1))
    cached = draw(st.just(()) | st.tuples(*[st.integers(0, 1_000)] * count))
    return Situation(group, view, tried, draw(st.integers(0, 999)), home, cached)


@pytest.mark.case("I28")
@pytest.mark.req("X-13", "G-062", "R-024")
@pytest.mark.bug("C-07")
@given(situations())
@THOROUGH
def test_decision_is_sound_in_any_situation(seen: Situation) -> None:
    decision, again = seen.decision(), seen.decision()

    excluded = {item.target_id for item in decision.excluded}
    assert decision == again
    assert len(excluded) == len(decision.excluded)
    assert seen.tried <= excluded
    assert excluded.isdisjoint(decision.candidates)
    assert all(0.0 < gate < 1.0 for gate in decision.gates.values())
    assert all(math.isfinite(share) and share >= 0 for share in decision.shares)
    assert _scores_are_sound(decision)
    if decision.pick is None:
        assert excluded == {member.target.id for member in seen.group.members}
    else:
        assert decision.pick.target.id in decision.candidates
        assert abs(sum(decision.shares) - 1) < 1e-9
        assert 0 < decision.pick.propensity <= 1


def _scores_are_sound(decision: Decision) -> bool:
    """Finite; in [0, 1] those that are scores; one per candidate."""
    terms = {} if decision.scores is None else decision.scores.terms
    values = [value for term in terms.values() for value in term]
    ratios = [value for name, term in terms.items() if name.endswith(("_score", "health")) for value in term]
    return (
        all(math.isfinite(value) and value >= 0 for value in values)
        and all(value <= 1 for value in ratios)
        and all(len(term) == len(decision.candidates) for term in terms.values())
        and _keeps_the_floor(terms.get("weight", (1.0,)), decision.group.policy.p2c)
    )


def _keeps_the_floor(drawn: tuple[float, ...], policy: P2c) -> bool:
    return min(drawn) >= policy.min_weight_fraction * max(drawn)


@given(situations())
@THOROUGH
def test_propensity_of_a_draw_is_the_share_of_the_pick(seen: Situation) -> None:
    decision = seen.decision()

    drawn = {DecisionMode.WEIGHTED, DecisionMode.COST}
    if decision.pick is not None and (decision.scores is not None or decision.pick.mode in drawn):
        share = dict(zip(decision.candidates, decision.shares, strict=True))[decision.pick.target.id]
        assert decision.pick.propensity == share


@given(situations(["p2c"]))
@THOROUGH
def test_nobody_is_drawn_more_seldom_than_the_floor_of_two_choices_allows(seen: Situation) -> None:
    decision = seen.decision()

    if decision.scores is not None and "weight" in decision.scores.terms:
        drawn = decision.scores.terms["weight"]
        assert min(drawn) >= max(drawn) * seen.group.policy.p2c.min_weight_fraction


@given(st.lists(st.integers(1, 100), min_size=1, max_size=5))
@thorough(100)
def test_round_robin_is_exact_over_a_full_turn_and_nobody_is_a_pick_ahead_before(turn_weights: list[int]) -> None:
    """Behind by a little more than one pick somebody may be: with weights 1, 1, 1, 14, 14 for example."""
    picks = _turns(turn_weights)

    served, total = Counter[int](), sum(turn_weights)
    for turn, index in enumerate(picks, 1):
        served[index] += 1
        ahead = [served[i] - turn * weight / total for i, weight in enumerate(turn_weights)]
        assert -2 < min(ahead) <= 0 <= max(ahead) < 1
    assert [served[index] for index in range(len(turn_weights))] == turn_weights


def _turns(turn_weights: Sequence[int]) -> list[int]:
    """The picks of one full turn."""
    credits: tuple[float, ...] = (0.0,) * len(turn_weights)
    picks = []
    for _ in range(sum(turn_weights)):
        picked = next_turn(tuple(map(float, turn_weights)), credits, random.Random(0))
        assert picked.turn_credits is not None
        credits = picked.turn_credits
        picks.append(picked.index)
    return picks


# --- a whole request against providers that do anything

outcomes = st.builds(
    Outcome,
    outcome_class=st.sampled_from(OutcomeClass),
    status=st.none() | st.sampled_from([200, 400, 401, 404, 409, 429, 500, 503, 529]),
    detail=st.sampled_from(["", "connect_refused", "protocol"]),
    committed=st.booleans(),
    confirmed=st.booleans(),
    retry_after_s=st.none() | st.floats(0.0, 400.0),
    duration_s=st.floats(0.0, 30.0),
)
policies = st.builds(
    Retry,
    max_attempts=st.none() | st.integers(1, 6),
    budget_base=st.sampled_from([0.0, 2.0, 30.0]),
    backoff_max_s=st.sampled_from([0.0, 1.0, 8.0]),
)


class World:
    """Virtual time, one group, real signals; the providers' answers are given one by one."""

    def __init__(self, group: ModelGroup, seed: int) -> None:
        self.group, self.now = group, 1_000.0
        self.rng = random.Random(seed)
        self.board = SignalBoard(self.rng)

    def serve(self, answers: Sequence[Outcome], *, caller: str, total_s: float) -> Exchange:
        """One request to its end; after the given answers the providers only fail."""
        deadline, ask = self.now + total_s, builders.ask(caller)
        exchange = Exchange(ask, self.group, self.board, self.rng, began_at=self.now, deadline=deadline)
        command, steps, left = exchange.start(self.now), 0, list(answers)
        while not isinstance(command, Finish):
            steps += 1
            assert steps < 10_000, "the request does not end"
            if isinstance(command, Wait):
                assert self.now <= command.until <= deadline
                self.now = command.until
                command = exchange.resume(self.now)
                continue
            assert self.now < deadline, "an attempt began after the deadline"
            lease = self.board.started(command.target, caller, self.now, is_probe=command.is_probe, facts=ask.facts)
            outcome = left.pop(0) if left else builders.outcome("upstream_fault", status=503)
            self.now = min(self.now + outcome.duration_s, deadline)
            self.board.record(lease, outcome, self.now, self.group)
            command = exchange.finished(outcome, self.now)
        return exchange


@pytest.mark.slow
@pytest.mark.case("I1", "I23")
@pytest.mark.bug("A-13", "B-02", "B-07")
@given(data=st.data())
@thorough(150)
def test_request_always_ends_within_its_bounds(data: st.DataObject) -> None:
    count, policy = data.draw(st.integers(1, 5)), data.draw(policies)
    group = builders.group(
        "chat",
        *[f"{number}/m" for number in range(count)],
        strategy=data.draw(st.sampled_from(STRATEGIES)),
        on_all_unavailable=data.draw(st.sampled_from(OnAllUnavailable)),
        retry=policy,
    )
    world = World(group, data.draw(st.integers(0, 999)))

    for _ in range(data.draw(st.integers(1, 6))):
        answers = data.draw(st.lists(outcomes, max_size=5))
        total_s = data.draw(st.sampled_from([0.0, 1.0, 20.0, 600.0]))
        exchange = world.serve(answers, caller=data.draw(st.sampled_from("ab")), total_s=total_s)
        world.now += data.draw(st.floats(0.0, 100.0))

        assert len(exchange.attempts) <= (policy.max_attempts or min(count + 1, DEFAULT_MAX_ATTEMPTS))
        assert not any(outcome.committed for outcome in exchange.outcomes[:-1])
        assert _repeats_were_allowed(exchange)
        assert all(world.board.in_flight(member.target) == 0 for member in group.members)


def _repeats_were_allowed(exchange: Exchange) -> bool:
    """No target is asked twice, unless its last failure was one after which it may be."""
    last: dict[str, Outcome] = {}
    for attempt, outcome in zip(exchange.attempts, exchange.outcomes, strict=True):
        if attempt.target_id in last and not retry.may_repeat(last[attempt.target_id]):
            return False
        last[attempt.target_id] = outcome
    return True


@pytest.mark.trap("23")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_total_outage_costs_one_free_failover_per_request_and_the_retry_budget(strategy: str) -> None:
    world = World(builders.group("chat", "a/m", "b/m", "c/m", "d/m", strategy=strategy), seed=1)
    policy, requests, calls = world.group.policy.retry, 1_000, 0

    for _ in range(requests):  # 100 a second, for 10 s
        began_at = world.now
        calls += len(world.serve([], caller="a", total_s=0.5).attempts)
        world.now = began_at + 0.01

    assert calls <= requests * (2 + policy.budget_ratio) + policy.budget_base


# --- who can serve at all

abilities = st.dictionaries(st.sampled_from(Capability), st.booleans(), max_size=4)
known = st.builds(
    Traits, capabilities=abilities, context_tokens=st.none() | st.integers(1, 4_000), zdr=st.none() | st.booleans()
)
slugs = st.lists(st.sampled_from(["0", "1", "2/m", "nobody"]), max_size=3).map(tuple)
wishes = st.builds(
    Preferences,
    order=slugs,
    allow_fallbacks=st.booleans(),
    only=st.lists(slugs.filter(bool), max_size=1).map(tuple),
    ignore=slugs,
    zdr=st.booleans(),
)
demanded = st.builds(Demands, needs=st.lists(st.sampled_from(Capability), max_size=3).map(tuple), preferences=wishes)


@pytest.mark.case("I28")
@pytest.mark.req("D-023")
@THOROUGH
@given(
    traits=st.lists(known, min_size=1, max_size=4),
    demands=demanded,
    strategy=st.sampled_from(STRATEGIES),
    tokens=st.integers(1, 5_000),
    seed=st.integers(0, 99),
)
def test_nobody_is_picked_who_cannot_serve_and_everybody_else_is_named_with_a_rule(
    traits: list[Traits], demands: Demands, strategy: str, tokens: int, seed: int
) -> None:
    ids = [f"{index}/m" for index in range(len(traits))]
    group = builders.group("chat", *ids, strategy=strategy, traits=dict(zip(ids, traits, strict=True)))
    group = arranged(group, demands.preferences)
    view = builders.group_view(*[builders.view() for _ in ids])

    decision = decide(
        builders.ask(demands=demands), group, view, rng=random.Random(seed), lengths=builders.lengths(group, tokens)
    )

    excluded = {each.target_id for each in decision.excluded}
    assert excluded.isdisjoint(decision.candidates)
    assert excluded | set(decision.candidates) == set(ids)
    if decision.pick is not None:
        target = decision.pick.target
        assert all(target.traits.capabilities.get(need) is not False for need in demands.needs)
        assert target.provider not in demands.preferences.ignore
        assert target.traits.zdr or not demands.preferences.zdr
        assert target.traits.context_tokens is None or tokens * SURE_RATIO <= target.traits.context_tokens
