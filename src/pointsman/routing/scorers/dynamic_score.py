"""Scores that the operator writes down: expressions over what is known of the targets, blended with their weights.

    score = (1 - a) weight / heaviest + a (sum of the terms that apply) / (sum of their upper bounds)

What is not known is 0.5. A term without a value for a target leaves that target to its weight, and is never 0.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pointsman.domain.decision import DecisionMode, ScoreNote
from pointsman.domain.derived import derived
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.score_policy import ScoreSignal, ScoreTerm
from pointsman.domain.target import ModelGroup
from pointsman.domain.value import Value
from pointsman.domain.view import Measured
from pointsman.routing.complexity import Shape, shape_of
from pointsman.routing.expressions.compiled import Expression, compiled
from pointsman.routing.expressions.tree import ScoreName
from pointsman.routing.market.outlook import outlook_of
from pointsman.routing.score_terms import USUAL, applied, preferred
from pointsman.routing.scorers.contest import SCORE, Contest, Verdict
from pointsman.routing.scorers.ratios import load_scores, neutral, to_least, to_most, weight_scores

WEIGHT = "weight_score"
_PREFERENCE = 0.05  # of a target that a term prefers: decides between near equals, and no more
_RESCUE_COST = 0.5  # of a failure, if another target could still answer
_TIE = 1e-9  # closer scores differ by rounding only
_MAX_ADDENDS = 8  # of a term that are shown
_Column = Sequence[float | None]


class _Ready(Value, eq=False):
    """A term of the policy and its compiled expression."""

    term: ScoreTerm
    expression: Expression


@derived(maxsize=4096)
def _ready(group: ModelGroup) -> Mapping[str, _Ready]:
    return {term.name: _Ready(term, compiled(term.expression)) for term in group.policy.dynamic_score.terms}


def verdict(contest: Contest) -> Verdict:
    policy = contest.policy.dynamic_score
    facts = USUAL if contest.ask is None else contest.ask.facts
    shape = shape_of(facts, policy)
    terms = applied(policy, facts, shape)
    observations = sum([seen.observed for seen in contest.view.measured])
    note = ScoreNote(
        tuple([signal for signal in ScoreSignal if signal in policy.signals]),
        observations,
        None if shape.complexity is None else shape.complexity.word,
        shape.input_bucket,
        shape.output_bucket,
        shape.tools_bucket,
        tuple([term.name for term in terms]),
        contest.dropped,
    )
    weights = weight_scores(contest.weights)
    if observations < policy.min_observations:
        return _by_weight(contest, weights, note, FallbackReason.WARMING)
    if not terms:
        return _by_weight(contest, weights, note, FallbackReason.NO_TERM)
    ready = _ready(contest.group)
    columns, live = _scored(contest, shape, [ready[term.name] for term in terms])
    ratio = policy.max_adjustment_ratio
    scores = tuple([
        weight if value is None else (1.0 - ratio) * weight + ratio * value
        for weight, value in zip(weights, live, strict=True)
    ])  # fmt: skip
    explored_ratio = policy.exploration_ratio if contest.is_first else 0.0
    shares, modes = _shares(contest, scores, DecisionMode.SCORE, explored_ratio)
    return Verdict(shares, modes, {**columns, WEIGHT: weights, SCORE: scores}, note=note)


def _by_weight(contest: Contest, weights: tuple[float, ...], note: ScoreNote, reason: FallbackReason) -> Verdict:
    """Deterministic (D-037): the heaviest, until it fails."""
    shares, modes = _shares(contest, weights, DecisionMode.FALLBACK, 0.0)
    return Verdict(shares, modes, {WEIGHT: weights, SCORE: weights}, fallback=reason, note=note)


def _shares(
    contest: Contest, scores: Sequence[float], mode: DecisionMode, explored_ratio: float
) -> tuple[tuple[float, ...], tuple[DecisionMode, ...]]:
    """The best has it, but for what the others share alike; between equals weight decides, then the name."""
    line, members, count = max(scores) - _TIE, contest.group.members, len(scores)
    best = min(
        [place for place in range(count) if scores[place] >= line],
        key=lambda place: (-contest.weights[place], members[contest.candidates[place]].target.id),
    )
    if count == 1:
        return (1.0,), (mode,)
    shares, modes = [explored_ratio / (count - 1)] * count, [DecisionMode.EXPLORATION] * count
    shares[best], modes[best] = 1.0 - explored_ratio, mode
    return tuple(shares), tuple(modes)


def _scored(
    contest: Contest, shape: Shape, terms: Sequence[_Ready]
) -> tuple[dict[str, tuple[float | None, ...]], list[float | None]]:
    """What people see of it, and how good each candidate is, from 0 to 1; None: some term has no value for it."""
    columns: dict[str, tuple[float | None, ...]] = {}
    known: dict[str, _Column] = {}
    count = len(contest.weights)
    totals: list[float | None] = [0.0] * count
    most = 0.0
    for each in terms:
        expression, name = each.expression, each.term.name
        for score in expression.names:
            if score not in known:
                known[score] = _column(contest, shape, score)
                columns[score] = neutral(known[score])
        arguments = [*[columns[score] for score in expression.names], *[known[score] for score in expression.known]]
        rows = zip(*arguments, strict=True) if arguments else [()] * count
        found = [expression.parts(row) for row in rows]
        columns[name] = tuple([None if parts is None else parts[0] for parts in found])
        if 1 < len(expression.addends) <= _MAX_ADDENDS:
            for place, addend in enumerate(expression.addends, start=1):
                columns[f"{name}: {addend}"] = tuple([None if parts is None else parts[place] for parts in found])
        totals = [
            None if total is None or parts is None else total + parts[0]
            for total, parts in zip(totals, found, strict=True)
        ]
        most += expression.most
    live = [None if total is None else min(max(total / most, 0.0), 1.0) for total in totals]
    choosy = [each.term for each in terms if each.term.prefer_tags]
    return columns, _preferred(contest, choosy, live) if choosy else live


def _preferred(contest: Contest, terms: Sequence[ScoreTerm], live: Sequence[float | None]) -> list[float | None]:
    """The same with what terms prefer, and nobody above 1."""
    likes = [preferred(terms, contest.group.members[index]) for index in contest.candidates]
    whole = 1.0 + _PREFERENCE * max(likes)
    return [
        None if value is None else (value + _PREFERENCE * liked) / whole
        for value, liked in zip(live, likes, strict=True)
    ]


def _column(contest: Contest, shape: Shape, name: str) -> _Column:
    """One score of all candidates; None: not known, or its signal is off."""
    signal, score = _COLUMNS[name]
    if signal is not None and signal not in contest.policy.dynamic_score.signals:
        return (None,) * len(contest.weights)
    return score(contest, shape)


def _reliability(seen: Measured) -> float | None:
    if seen.error_ratio is None or seen.timeout_ratio is None or seen.rescued_ratio is None:
        return None
    return max(1.0 - seen.error_ratio - seen.timeout_ratio - _RESCUE_COST * seen.rescued_ratio, 0.0)


def _qualities(contest: Contest, shape: Shape) -> _Column:
    traits = [contest.group.members[index].target.traits for index in contest.candidates]
    return [known.pass_rate if known.quality_score is None else known.quality_score for known in traits]


def _adjusted_prices(contest: Contest, shape: Shape) -> _Column:
    """The lowest adjusted price beside each one's, as `market` works it out."""
    outlook = outlook_of(contest.group, contest.view)
    quotes = [outlook.quotes[index] for index in contest.candidates]
    return to_least([row[-1] for row in outlook.prices(quotes, contest.estimates)])


_Score = Callable[[Contest, Shape], _Column]
_COLUMNS: Mapping[str, tuple[ScoreSignal | None, _Score]] = MappingProxyType(
    {
        ScoreName.COST.value: (ScoreSignal.COST, lambda contest, _: to_least(contest.costs_usd)),
        ScoreName.LATENCY.value: (
            ScoreSignal.OBSERVED_PERFORMANCE,
            lambda contest, _: to_least([seen.p95_s for seen in contest.measured]),
        ),
        ScoreName.THROUGHPUT.value: (
            ScoreSignal.OBSERVED_PERFORMANCE,
            lambda contest, _: to_most([seen.output_tps for seen in contest.measured]),
        ),
        ScoreName.RELIABILITY.value: (
            ScoreSignal.OBSERVED_PERFORMANCE,
            lambda contest, _: [_reliability(seen) for seen in contest.measured],
        ),
        ScoreName.COMPLEXITY.value: (
            ScoreSignal.COMPLEXITY,
            lambda contest, shape: [shape.score] * len(contest.weights),
        ),
        ScoreName.EVAL_QUALITY.value: (ScoreSignal.EVALUATION_METADATA, _qualities),
        ScoreName.ADJUSTED_PRICE.value: (ScoreSignal.COST, _adjusted_prices),
        ScoreName.LOAD.value: (None, lambda contest, _: load_scores(contest.measured)),
        ScoreName.CACHE.value: (None, lambda contest, _: contest.cached_ratios),
    }
)
SIGNALS: Mapping[str, ScoreSignal | None] = MappingProxyType({name: row[0] for name, row in _COLUMNS.items()})
RESERVED = frozenset((*SIGNALS, WEIGHT, SCORE))  # names that no term can have
