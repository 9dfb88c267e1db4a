"""Step 6 of strategies that ask somebody outside: the question, and what the answer says of each candidate."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from pointsman.domain.ask import Ask
from pointsman.domain.decision import Estimate
from pointsman.domain.opinion import Candidate, FallbackReason, Question, Told
from pointsman.domain.ports import Rng
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import GroupView
from pointsman.routing.scorers import Contest, Opinion

OpinionOf = Callable[[Contest, Rng], Opinion]


class BadAnswerError(ValueError):
    """An answer that cannot be used; says why, in words that quote nothing of it."""


def by_plugin(contest: Contest, rng: Rng) -> Opinion:
    """What the plugin of the group says now."""
    ask, plugin = contest.ask, contest.policy.plugin
    if ask is None or plugin is None:
        return FallbackReason.NOT_ASKED
    asked = question(ask, contest.group, contest.candidates, contest.view, contest.estimates)
    return _opinion(plugin.ask(asked, now=contest.view.at, rng=rng), contest)


def by_service(contest: Contest, rng: Rng) -> Opinion:
    """What the policy service of the group has said, before the decision: deciding asks nobody."""
    told = None if contest.ask is None else contest.ask.told
    return FallbackReason.NOT_ASKED if told is None else _opinion(told, contest)


def _opinion(told: Told, contest: Contest) -> Opinion:
    if isinstance(told, FallbackReason):
        return told
    members = contest.group.members
    return tuple([told.get(members[index].target.id, 0.0) for index in contest.candidates])


def question(
    ask: Ask, group: ModelGroup, candidates: tuple[int, ...], view: GroupView, estimates: tuple[Estimate, ...]
) -> Question:
    """All that outsiders may know of a request. `candidates` are indexes of members, `estimates` one for each."""
    facts, pairs = ask.facts, zip(candidates, estimates, strict=True)
    return Question(
        group=group.name,
        caller=ask.caller.name,
        dialect=facts.dialect,
        stream=facts.stream,
        body_bytes=facts.body_bytes,
        tool_count=facts.tool_count,
        structured_output=facts.structured_output,
        reasoning=facts.reasoning,
        max_output_tokens=facts.max_output_tokens,
        candidates=tuple([_candidate(group, index, view, estimate) for index, estimate in pairs]),
    )


def _candidate(group: ModelGroup, index: int, view: GroupView, estimate: Estimate) -> Candidate:
    member, seen = group.members[index], view.measured[index]
    return Candidate(
        id=member.target.id,
        provider=member.target.provider,
        model=member.target.upstream_model,
        weight=member.weight,
        tags=member.tags,
        input_tokens=estimate.input_tokens,
        output_tokens=estimate.output_tokens,
        cost_usd=estimate.cost_usd,
        in_flight=seen.in_flight,
        overdue=seen.overdue,
        samples=seen.samples,
        ttft_s=seen.ttft_s,
        unary_s=seen.unary_s,
        failure_ratio=seen.failure_ratio,
        rate_limited_ratio=seen.rate_limited_ratio,
    )


def read_answer(answer: object, ids: Collection[str]) -> Mapping[str, float]:
    """Scores of all targets that an answer names. Raises BadAnswerError: `ids` are those it may name."""
    if isinstance(answer, Mapping):
        scores = {name: _score(value) for name, value in answer.items()}
    elif isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        scores = {name: (len(answer) - place) / len(answer) for place, name in enumerate(answer)}
        if len(scores) < len(answer):
            raise BadAnswerError("it names a target twice")
    else:
        raise BadAnswerError("it is neither scores by target nor a list of targets")
    if not scores.keys() <= set(ids):
        raise BadAnswerError("it names a target that was not asked about")
    return scores


def _score(value: object) -> float:
    try:
        score = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number that no float can hold
        score = math.inf
    if not (0.0 <= score < math.inf):
        raise BadAnswerError("a score is no finite number from 0 up")
    return score
