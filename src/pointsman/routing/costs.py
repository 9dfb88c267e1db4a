"""Step 6 of strategies that compare prices: what each candidate would charge for the request, and who charges least."""

from collections.abc import Sequence
from statistics import median

from msgspec import structs

from pointsman.domain.decision import Estimate
from pointsman.domain.price import estimate_usd
from pointsman.domain.target import Target
from pointsman.domain.view import LengthView

EQUAL_WITHIN_RATIO = 0.01  # estimates are no better than that: a smaller difference must not move all traffic


def estimates(
    candidates: tuple[int, ...], targets: tuple[Target, ...], lengths: LengthView | None
) -> tuple[Estimate, ...]:
    """One per candidate. `candidates` are their indexes among the members of the group."""
    if lengths is None:
        raise ValueError("a strategy that compares prices needs to know how long the request is")
    output, cached = lengths.output_tokens, lengths.cached_tokens
    inputs = [lengths.input_tokens[index] for index in candidates]
    if not cached:
        pairs = zip(inputs, targets, strict=True)
        found = [Estimate(tokens, output, estimate_usd(target.price, tokens, output)) for tokens, target in pairs]
    else:
        rows = zip(inputs, targets, [cached[index] for index in candidates], strict=True)
        found = [
            Estimate(tokens, output, estimate_usd(target.price, tokens, output, kept), kept)
            for tokens, target, kept in rows
        ]
    if lengths.price_factors:
        factors = [lengths.price_factors[index] for index in candidates]
        found = [_times(estimate, factor) for estimate, factor in zip(found, factors, strict=True)]
    return tuple(found)


def _times(estimate: Estimate, factor: float) -> Estimate:
    """At what the target really charges."""
    usd = estimate.cost_usd
    return estimate if usd is None else structs.replace(estimate, cost_usd=usd * factor)


def inverse_square(weights: tuple[float, ...], found: tuple[Estimate, ...]) -> tuple[float, ...]:
    """The weights by the inverse square of the cost: twice the cost, a quarter of the traffic."""
    ratios = cost_ratios([estimate.cost_usd for estimate in found])
    return tuple([weight * ratio * ratio for weight, ratio in zip(weights, ratios, strict=True)])


def cost_ratios(costs_usd: Sequence[float | None]) -> list[float]:
    """The lowest cost beside each one's: 1.0 for the cheapest. Who charges nobody knows what counts as the median."""
    known = [usd for usd in costs_usd if usd is not None]
    if not known:
        return [1.0] * len(costs_usd)
    middle, lowest = median(known), min(known)
    filled = [middle if usd is None else usd for usd in costs_usd]
    return [lowest / usd if usd else 1.0 for usd in filled]


def cheapest(weights: tuple[float, ...], found: tuple[Estimate, ...]) -> tuple[float, ...]:
    """The weights of those that charge least, 0 for all others. Who charges nobody knows what comes last (C-10)."""
    known = [estimate.cost_usd for estimate in found if estimate.cost_usd is not None]
    if not known:
        return weights
    limit_usd = min(known) * (1.0 + EQUAL_WITHIN_RATIO)
    return tuple(
        [
            weight if estimate.cost_usd is not None and estimate.cost_usd <= limit_usd else 0.0
            for weight, estimate in zip(weights, found, strict=True)
        ]
    )
