"""Weighted rendezvous: in proportion to weight, and few move when weights change.

`loads` are exponential draws, one per candidate. The lowest load for its weight serves; the others follow in the order
of theirs, which is the same with and without those that have been tried.
"""

from pointsman.domain.ports import Rng
from pointsman.routing.pickers.pick import Pick


def pick(weights: tuple[float, ...], loads: tuple[float, ...], rng: Rng) -> Pick:
    """One of weight zero is never picked."""
    total = sum(weights)
    ranked = [(load / weight, index) for index, (load, weight) in enumerate(zip(loads, weights, strict=True)) if weight]
    _, index = min(ranked)
    shares = tuple([weight / total for weight in weights])
    return Pick(index, shares, shares[index])
