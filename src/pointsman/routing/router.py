"""`decide()`: the one function that chooses a target, for the gateway, explain, simulator and replay alike.

The steps, each in its own file: 1 resolve (before this call), 2 tier, 3 eligibility, 4 availability, 5 affinity,
6 score and shares, 7 pick. Tier has no rule yet.
"""

from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.decision import (
    NO_EFFECTS,
    NO_ESTIMATES,
    Decision,
    DecisionMode,
    Effects,
    Estimate,
    Excluded,
    Exclusion,
    Picked,
    Scores,
)
from pointsman.domain.derived import derived
from pointsman.domain.ports import Rng
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Value
from pointsman.domain.view import TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS, GroupView, LengthView
from pointsman.routing import affinity, availability, costs, eligibility
from pointsman.routing.score_terms import Narrowed
from pointsman.routing.scorers import Contest, Scorer, Verdict
from pointsman.routing.strategies import PRESETS, Strategy

NOBODY: frozenset[str] = frozenset()

_LONG_PROMPT_BYTES = 128 * 1024  # about 32,000 tokens: a probe that fails would have them read twice, and paid for


def decide(
    ask: Ask,
    group: ModelGroup,
    view: GroupView,
    *,
    rng: Rng,
    tried: frozenset[str] = NOBODY,
    lengths: LengthView | None = None,
    home: int | None = None,
) -> Decision:
    """Choose a target for the next attempt. Pure: equal arguments give an equal decision.

    `lengths` is for strategies that compare prices, and for requests that may be too long for somebody. `home` is the
    member that the request's session belongs to.
    """
    eligible = eligibility.split(ask, group, lengths)
    if view.is_calm and not tried and len(eligible.members) > 1:  # the usual case: all that are eligible are available
        return _picked(ask, _field(group, eligible.members), view, eligible.excluded, rng, lengths, home, is_first=True)
    found = availability.split(group, eligible.members, view, tried)
    excluded = eligible.excluded + found.excluded
    if found.recovering and (not tried or not found.open):
        probed = _probed(ask, group, found, view, home)
        if probed is not None:
            return _only(group, probed, excluded, DecisionMode.PROBE, Effects(claim_probe=True))
    if not found.open:
        return Decision(group, pick=None, excluded=excluded)
    if len(eligible.members) == 1:  # nothing to choose: no strategy runs, no state advances (G-081)
        return _only(group, found.open[0], excluded, DecisionMode.SINGLE, NO_EFFECTS)
    gates = {group.members[i].target.id: view.targets[i].gate for i in found.open if view.targets[i].gate < 1.0}
    if not gates:
        return _picked(ask, _field(group, found.open), view, excluded, rng, lengths, home, is_first=not tried)
    candidates = found.open
    if PRESETS[group.policy.decides].draws_gates:
        kept = home if affinity.is_firm(group) else None  # a session stays with what is well, however narrow its gate
        candidates = availability.admitted(found.open, view, rng, kept)
        held_back = [group.members[index].target.id for index in found.open if index not in candidates]
        excluded += tuple([Excluded(target_id, Exclusion.HELD_BACK) for target_id in held_back])
    picked = _picked(ask, _field(group, candidates), view, excluded, rng, lengths, home, is_first=not tried)
    return structs.replace(picked, gates=gates)


def _probed(
    ask: Ask, group: ModelGroup, found: availability.Availability, view: GroupView, home: int | None
) -> int | None:
    """The recovering member that gets this request.

    A session is taken from its target, and a long prompt put at risk, only if nothing else comes.
    """
    is_kept = home in found.open and affinity.holds(group)
    if not found.open or not (is_kept or ask.facts.body_bytes > _LONG_PROMPT_BYTES):
        return found.recovering[0]
    return next((index for index in found.recovering if view.targets[index].is_probe_overdue), None)


def panic(decision: Decision, index: int) -> tuple[Decision, Picked]:
    """The decision to try a member although it is unavailable, since every one is. No session moves for it (G-089)."""
    target = decision.group.members[index].target
    pick = Picked(target, DecisionMode.PANIC, 1.0)
    return Decision(decision.group, pick, (target.id,), (1.0,), decision.excluded, pin=decision.pin), pick


def _only(
    group: ModelGroup, index: int, excluded: tuple[Excluded, ...], mode: DecisionMode, effects: Effects
) -> Decision:
    target = group.members[index].target
    return Decision(group, Picked(target, mode, 1.0, effects), (target.id,), (1.0,), excluded)


class _Field(Value):
    """The candidates of a group, as its strategy sees them."""

    group: ModelGroup
    strategy: Strategy
    candidates: tuple[int, ...]
    targets: tuple[Target, ...]
    ids: tuple[str, ...]
    weights: tuple[float, ...]


@derived(maxsize=4096)
def _field(group: ModelGroup, candidates: tuple[int, ...]) -> _Field:
    members = [group.members[index] for index in candidates]
    targets = tuple(member.target for member in members)
    ids = tuple(target.id for target in targets)
    weights = tuple(member.weight for member in members)
    return _Field(group, PRESETS[group.policy.decides], candidates, targets, ids, weights)


def _picked(
    ask: Ask,
    field: _Field,
    view: GroupView,
    excluded: tuple[Excluded, ...],
    rng: Rng,
    lengths: LengthView | None,
    home: int | None,
    *,
    is_first: bool,
    dropped: tuple[Exclusion, ...] | None = None,
) -> Decision:
    strategy, weights, estimates = field.strategy, field.weights, NO_ESTIMATES
    if strategy.narrow is not None and dropped is None:
        found = strategy.narrow(ask.facts, field.group, field.candidates, view)
        return _narrowed(ask, field, view, excluded, rng, lengths, home, is_first=is_first, found=found)
    at_home = None
    if home is not None and home in field.candidates:
        at_home = field.candidates.index(home)
        if affinity.is_firm(field.group):
            return _pinned(field, at_home, excluded, estimates)
    if strategy.compares_prices:
        estimates = costs.estimates(field.candidates, field.targets, lengths)
    if strategy.score is not None:
        contest = _contest(field, view, estimates, ask=ask, is_first=is_first, home=at_home, dropped=dropped or ())
        return _scored(field, strategy.score, contest, excluded, rng)
    if at_home is not None and _is_worth_staying(field.group, [found.cost_usd for found in estimates], at_home):
        return _pinned(field, at_home, excluded, estimates)
    if strategy.compares_prices:
        weights = strategy.by_cost(weights, estimates)
    turn_credits = view.turn_credits
    if len(field.candidates) < len(turn_credits):
        turn_credits = tuple([turn_credits[index] for index in field.candidates])
    pick = strategy.pick(weights, turn_credits, rng)
    effects = NO_EFFECTS if pick.turn_credits is None else _turn(view, field.candidates, pick.turn_credits)
    picked = Picked(field.targets[pick.index], strategy.mode, pick.propensity, effects)
    return Decision(field.group, picked, field.ids, pick.shares, excluded, estimates)


def _narrowed(
    ask: Ask,
    field: _Field,
    view: GroupView,
    excluded: tuple[Excluded, ...],
    rng: Rng,
    lengths: LengthView | None,
    home: int | None,
    *,
    is_first: bool,
    found: Narrowed,
) -> Decision:
    """Among those that the strategy's own rules leave; `found`: who they are."""
    excluded += found.excluded
    if not found.candidates:
        return Decision(field.group, pick=None, excluded=excluded)
    field = _field(field.group, found.candidates)
    return _picked(ask, field, view, excluded, rng, lengths, home, is_first=is_first, dropped=found.dropped)


def _is_worth_staying(group: ModelGroup, prices_usd: Sequence[float | None], at_home: int) -> bool:
    return affinity.is_economic(group) and affinity.stays(prices_usd, at_home)


def _pinned(
    field: _Field,
    at: int,
    excluded: tuple[Excluded, ...],
    estimates: tuple[Estimate, ...],
    scores: Scores | None = None,
    effects: Effects = NO_EFFECTS,
) -> Decision:
    """The session stays: nothing is drawn, and nobody's turn moves on."""
    picked = Picked(field.targets[at], DecisionMode.PINNED, 1.0, effects)
    shares = tuple([float(index == at) for index in range(len(field.ids))])
    return Decision(field.group, picked, field.ids, shares, excluded, estimates, scores)


def standing(group: ModelGroup, view: GroupView) -> tuple[tuple[str, ...], Verdict] | None:
    """How all targets with a weight compare now, by id, as if all were available, for a stream of usual length.

    None: the strategy has no scores of its own.
    """
    field = _field(group, tuple(index for index, member in enumerate(group.members) if member.weight > 0))
    if field.strategy.score is None or field.strategy.opinion is not None:
        return None
    factors = tuple([seen.price_factor for seen in view.measured])
    inputs = (TYPICAL_INPUT_TOKENS,) * len(group.members)
    lengths = LengthView(inputs, TYPICAL_OUTPUT_TOKENS, price_factors=factors)
    estimates = costs.estimates(field.candidates, field.targets, lengths)
    return field.ids, field.strategy.score(_contest(field, view, estimates))


def _contest(
    field: _Field,
    view: GroupView,
    estimates: tuple[Estimate, ...],
    *,
    ask: Ask | None = None,
    is_first: bool = False,
    home: int | None = None,
    dropped: tuple[Exclusion, ...] = (),
) -> Contest:
    measured = tuple([view.measured[index] for index in field.candidates])
    stream = ask is None or ask.facts.stream
    return Contest(
        field.group, view, field.candidates, field.weights, measured, estimates, stream, ask, is_first, home,
        dropped=dropped,
    )  # fmt: skip


def _scored(
    field: _Field, score: Scorer, contest: Contest, excluded: tuple[Excluded, ...], rng: Rng
) -> Decision:  # fmt: skip
    if field.strategy.opinion is not None:
        contest = structs.replace(contest, opinion=field.strategy.opinion(contest, rng))
    verdict, home, estimates = score(contest), contest.home, contest.estimates
    scores = Scores(contest.measured, verdict.terms, verdict.fallback, verdict.note)
    if home is not None and _is_worth_staying(field.group, verdict.prices_usd or contest.costs_usd, home):
        return _pinned(field, home, excluded, estimates, scores, verdict.effects)
    pick = field.strategy.pick(verdict.weights, verdict.loads, rng)
    shares = pick.shares if verdict.shares is None else verdict.shares
    propensity = pick.propensity if verdict.shares is None else shares[pick.index]
    picked = Picked(field.targets[pick.index], verdict.modes[pick.index], propensity, verdict.effects)
    return Decision(field.group, picked, field.ids, shares, excluded, estimates, scores)


def _turn(view: GroupView, candidates: tuple[int, ...], moved: tuple[float, ...]) -> Effects:
    """Round robin moved on among the candidates; members that could not take part keep what they are owed."""
    turn_credits = list(view.turn_credits)
    for index, credit in zip(candidates, moved, strict=True):
        turn_credits[index] = credit
    return Effects(turn_credits=tuple(turn_credits))
