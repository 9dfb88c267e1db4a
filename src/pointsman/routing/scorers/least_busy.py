"""The fewest requests in flight for its weight; ties at random (C-03)."""

from pointsman.domain.decision import DecisionMode
from pointsman.routing.scorers.contest import Contest, Verdict

_HIGHEST = 1e300  # of a weight that is nearly nothing: loads stay finite


def verdict(contest: Contest) -> Verdict:
    pairs = zip(contest.measured, contest.weights, strict=True)
    loads = tuple([min((seen.in_flight + 1) / weight, _HIGHEST) for seen, weight in pairs])
    least = min(loads)
    weights = tuple([1.0 if load == least else 0.0 for load in loads])
    return Verdict(weights, (DecisionMode.LEAST_BUSY,) * len(loads), {"load": loads})
