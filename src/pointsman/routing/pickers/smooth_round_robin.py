"""Smooth weighted round robin: in turn, by weight, never the same target in a clump (nginx's algorithm)."""

from pointsman.domain.ports import Rng
from pointsman.routing.pickers.pick import Pick


def pick(weights: tuple[float, ...], turn_credits: tuple[float, ...], rng: Rng) -> Pick:
    """Everybody earns its weight, the richest serves and pays the sum of all."""
    total = sum(weights)
    earned = [credit + weight for credit, weight in zip(turn_credits, weights, strict=True)]
    index = max(range(len(earned)), key=earned.__getitem__)
    earned[index] -= total
    return Pick(index, tuple(weight / total for weight in weights), 1.0, tuple(earned))
