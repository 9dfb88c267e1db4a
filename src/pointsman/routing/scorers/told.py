"""The highest score that somebody outside has given; ties at random, by weight if there is no such score."""

from pointsman.domain.decision import DecisionMode
from pointsman.domain.opinion import FallbackReason
from pointsman.routing.scorers.contest import SCORE, Contest, Verdict, by_weight


def verdict(contest: Contest) -> Verdict:
    scores = contest.opinion
    if scores is None:
        return by_weight(contest, FallbackReason.NOT_ASKED)
    if isinstance(scores, FallbackReason):
        return by_weight(contest, scores)
    best = max(scores)
    if best <= 0.0:
        return by_weight(contest, FallbackReason.NO_OPINION)
    weights = tuple([1.0 if score == best else 0.0 for score in scores])
    return Verdict(weights, (DecisionMode(contest.policy.decides),) * len(scores), {SCORE: scores})
