"""The best weighted sum of scores in [0, 1], but for a share that keeps the others measured."""

from collections.abc import Callable

from pointsman.domain.decision import DecisionMode
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.policy import Blend
from pointsman.domain.value import Leaf
from pointsman.routing.scorers.contest import SCORE, Contest, Verdict, by_weight
from pointsman.routing.scorers.ratios import load_scores, neutral, to_least, weight_scores

_MIN_SAMPLED_TARGETS = 2  # latencies of one target compare with nothing
_TIE = 1e-9  # closer scores differ by rounding only


class _Ranking(Leaf):
    """Scores, those who share the lead, and those who are explored."""

    scores: tuple[float, ...]
    best: list[int]
    explored: list[int]
    mode: DecisionMode  # of the best


def verdict(contest: Contest) -> Verdict:
    policy = contest.policy.blend
    if not policy.enabled:
        return by_weight(contest, FallbackReason.DISABLED)
    reason = fallback_reason(contest)
    if reason is not None:
        terms = _pipeline_terms(contest)
        ranking = _pipeline(contest, terms)
    else:
        rows = _rows(policy)
        nothing = (0.0,) * len(contest.weights)  # a score without weight is shown as 0
        terms = {name: score(contest) if weight else nothing for name, weight, score in rows}
        ranking = _blended(tuple([weight for _, weight, _ in rows]), tuple(terms.values()))
    weights, modes = _shares(ranking, policy.exploration_ratio)
    return Verdict(weights, modes, {**terms, SCORE: ranking.scores}, fallback=reason)


def fallback_reason(contest: Contest) -> FallbackReason | None:
    """Why the blend is not engaged yet; None: it is."""
    policy = contest.policy.blend
    if contest.served < policy.min_samples:
        return FallbackReason.WARMING
    if policy.latency_weight and contest.sampled_targets < _MIN_SAMPLED_TARGETS:
        return FallbackReason.NO_SIGNAL
    return None


def _rows(policy: Blend) -> tuple[tuple[str, float, Callable[[Contest], tuple[float, ...]]], ...]:
    return (
        ("latency_score", policy.latency_weight, _latency_scores),
        ("cost_score", policy.cost_weight, _cost_scores),
        ("load_score", policy.load_weight, _load_scores),
    )


def _blended(weights: tuple[float, ...], terms: tuple[tuple[float, ...], ...]) -> _Ranking:
    scores = tuple([sum([a * b for a, b in zip(weights, row, strict=True)]) for row in zip(*terms, strict=True)])
    best = _leaders(scores, sum(weights))
    others = set(range(len(scores))).difference(best)
    return _Ranking(scores, best, sorted(others), DecisionMode.BLEND)


def _pipeline(contest: Contest, terms: dict[str, tuple[float, ...]]) -> _Ranking:
    """What serves until then: all of these alike. The least sampled is explored, so that it always ends."""
    scores = tuple([sum(row) for row in zip(*terms.values(), strict=True)])
    best = _leaders(scores, float(len(terms)))
    fewest = min(seen.samples for seen in contest.measured)
    least = {index for index, seen in enumerate(contest.measured) if seen.samples == fewest}
    return _Ranking(scores, best, sorted(least.difference(best)), DecisionMode.FALLBACK)


def _pipeline_terms(contest: Contest) -> dict[str, tuple[float, ...]]:
    """Who answered the session last, weight, load, and who knows most of the prompt (R-032)."""
    count = len(contest.weights)
    return {
        "session_score": tuple([float(index == contest.home) for index in range(count)]),
        "weight_score": weight_scores(contest.weights),
        "load_score": _load_scores(contest),
        "prefix_score": contest.cached_ratios,
    }


def _leaders(scores: tuple[float, ...], highest_possible: float) -> list[int]:
    line = max(scores) - _TIE * highest_possible
    return [index for index, score in enumerate(scores) if score >= line]


def _shares(ranking: _Ranking, exploration_ratio: float) -> tuple[tuple[float, ...], tuple[DecisionMode, ...]]:
    """Equal parts of the lead for the best, equal parts of the rest for the explored (R-014, R-020)."""
    explored_ratio = exploration_ratio if ranking.explored else 0.0
    shares, modes = [0.0] * len(ranking.scores), [DecisionMode.EXPLORATION] * len(ranking.scores)
    for index in ranking.explored:
        shares[index] = explored_ratio / len(ranking.explored)
    for index in ranking.best:
        shares[index], modes[index] = (1.0 - explored_ratio) / len(ranking.best), ranking.mode
    return tuple(shares), tuple(modes)


def _latency_scores(contest: Contest) -> tuple[float, ...]:
    """1.0 for the fastest, proportionally less for slower ones."""
    return neutral(to_least([seen.ttft_s if contest.stream else seen.unary_s for seen in contest.measured]))


def _cost_scores(contest: Contest) -> tuple[float, ...]:
    """1.0 for what costs least, proportionally less for what costs more; beside something free, 0 for all else."""
    return neutral(to_least(contest.costs_usd))


def _load_scores(contest: Contest) -> tuple[float, ...]:
    return load_scores(contest.measured)
