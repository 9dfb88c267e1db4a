"""Which terms of a score policy a request is for, and whom they and the thresholds leave in the running."""

from collections.abc import Callable, Sequence

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.request import Dialect, RequestFacts
from pointsman.domain.score_policy import Condition, DynamicScore, OnEmpty, ScoreSignal, ScoreTerm, Thresholds
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.value import Leaf
from pointsman.domain.view import TYPICAL_INPUT_TOKENS, GroupView, Measured
from pointsman.routing.complexity import Shape, shape_of

_USUAL_CHARS = 4 * TYPICAL_INPUT_TOKENS
USUAL = RequestFacts(Dialect.OPENAI_CHAT, "", stream=True, body_bytes=_USUAL_CHARS)  # in place of one nobody has sent


class Narrowed(Leaf):
    """Who is left of some candidates; indexes of the group's members."""

    candidates: tuple[int, ...]
    excluded: tuple[Excluded, ...] = ()
    dropped: tuple[Exclusion, ...] = ()  # rules that do not hold this time, because they would have left nobody


def applied(policy: DynamicScore, facts: RequestFacts, shape: Shape) -> tuple[ScoreTerm, ...]:
    return tuple([term for term in policy.terms if _holds(term.when, policy, facts, shape)])


def _holds(when: Condition, policy: DynamicScore, facts: RequestFacts, shape: Shape) -> bool:
    """What is not looked at holds for nobody."""
    complexity, feature = shape.complexity, when.feature
    if when.at_most is not None and (complexity is None or complexity > when.at_most):
        return False
    if when.at_least is not None and (complexity is None or complexity < when.at_least):
        return False
    return feature is None or (feature in policy.looked_for and feature in (facts.features or ()))


def narrowed(facts: RequestFacts, group: ModelGroup, candidates: tuple[int, ...], view: GroupView) -> Narrowed:
    """By thresholds first, then by the tags that terms require."""
    policy = group.policy.dynamic_score
    tags = frozenset[str]()
    if any(term.require_tags for term in policy.terms):
        tags = tags.union(*[term.require_tags for term in applied(policy, facts, shape_of(facts, policy))])
    is_judged = policy.thresholds.is_set and ScoreSignal.OBSERVED_PERFORMANCE in policy.signals
    if not is_judged and not tags:
        return Narrowed(candidates)
    found = Narrowed(candidates)
    if is_judged:
        limits = policy.thresholds
        found = _without(found, Exclusion.THRESHOLD, group, lambda index: breaks(limits, view.measured[index]))
    if tags:
        found = _without(found, Exclusion.TERM_TAGS, group, lambda index: not tags <= group.members[index].tags)
    return found


def _without(found: Narrowed, rule: Exclusion, group: ModelGroup, is_out: Callable[[int], bool]) -> Narrowed:
    out = [index for index in found.candidates if is_out(index)]
    if len(out) == len(found.candidates) and group.policy.dynamic_score.on_empty is OnEmpty.IGNORE:
        return Narrowed(found.candidates, found.excluded, (*found.dropped, rule))
    excluded = [Excluded(group.members[index].target.id, rule) for index in out]
    kept = tuple([index for index in found.candidates if index not in out])
    return Narrowed(kept, (*found.excluded, *excluded), found.dropped)


def breaks(limits: Thresholds, seen: Measured) -> bool:
    """Whether a target is known well enough to say that it does not keep to a threshold."""
    if seen.observed < limits.min_samples:
        return False
    slowest = limits.min_output_tps
    if slowest is not None and seen.output_tps is not None and seen.output_tps < slowest:
        return True
    pairs = (
        (seen.error_ratio, limits.max_error_ratio),
        (seen.timeout_ratio, limits.max_timeout_ratio),
        (seen.p95_s, limits.max_p95_s),
        (seen.ttfb_p95_s, limits.max_ttfb_s),
    )
    return any(value is not None and most is not None and value > most for value, most in pairs)


def preferred(terms: Sequence[ScoreTerm], member: Member) -> int:
    """How many of the terms prefer the target by one of its tags."""
    return sum([not term.prefer_tags.isdisjoint(member.tags) for term in terms])
