"""Power of two choices: fast and reliable targets are drawn more often, the one that answers sooner wins."""

from statistics import median_low

from pointsman.domain.decision import DecisionMode
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.policy import Objective
from pointsman.domain.view import Measured
from pointsman.routing.costs import cost_ratios
from pointsman.routing.scorers.contest import Contest, Verdict, by_weight

_MIN_SUCCESS_RATIO = 1e-6  # nobody fails for certain
_ANY_S = 1.0  # while no target has a time, all have the same


def verdict(contest: Contest) -> Verdict:
    policy = contest.policy.p2c
    if not policy.enabled:
        return by_weight(contest, FallbackReason.DISABLED)
    times_s, health = _times_s(contest.measured), _health(contest.measured)
    appeal = _appeal(policy.objective, times_s, contest)
    rows = zip(contest.weights, health, appeal, strict=True)
    drawn = [weight * healthy * liked for weight, healthy, liked in rows]
    if contest.home is not None:
        drawn[contest.home] *= policy.warm_cache_weight
    floor = max(drawn) * policy.min_weight_fraction
    weights = tuple([max(weight, floor) for weight in drawn])
    # plus 1: else every idle target would be equally good, however slow (G-054)
    loads = tuple([time_s * (seen.in_flight + 1) for time_s, seen in zip(times_s, contest.measured, strict=True)])
    terms = {"time_s": times_s, "health": health, "appeal": appeal, "weight": weights, "load": loads}
    return Verdict(weights, (DecisionMode.P2C,) * len(weights), terms, loads)


def _times_s(measured: tuple[Measured, ...]) -> tuple[float, ...]:
    """Seconds to the first byte; a target without a sample counts as an average one, neither fast nor slow."""
    known = [seen.ttfb_s for seen in measured if seen.ttfb_s is not None]
    middle = median_low(known) if known else _ANY_S
    return tuple([middle if seen.ttfb_s is None else seen.ttfb_s for seen in measured])


def _appeal(objective: Objective, times_s: tuple[float, ...], contest: Contest) -> tuple[float, ...]:
    """1.0 for the fastest and cheapest. While no price is known, the objective can only be latency (G-064 to G-067)."""
    fastest_s = min(times_s)
    speed = [fastest_s / time_s for time_s in times_s]
    if objective is Objective.LATENCY or all(usd is None for usd in contest.costs_usd):
        return tuple(speed)
    power = 1.0 if objective is Objective.COST else 0.5
    ratios = cost_ratios(contest.costs_usd)
    return tuple([(fast * ratio * ratio) ** power for fast, ratio in zip(speed, ratios, strict=True)])


def _health(measured: tuple[Measured, ...]) -> tuple[float, ...]:
    """1.0 for the most reliable candidate; squared, so that traffic leaves before a pause is due."""
    success = [max(1.0 - (seen.failure_ratio or 0.0), _MIN_SUCCESS_RATIO) for seen in measured]
    best = max(success)
    return tuple([(ratio / best) ** 2 for ratio in success])
