"""The first candidate in declared order."""

from pointsman.domain.ports import Rng
from pointsman.routing.pickers.pick import Pick


def pick(weights: tuple[float, ...], turn_credits: tuple[float, ...], rng: Rng) -> Pick:
    return Pick(0, (1.0,) + (0.0,) * (len(weights) - 1), 1.0)
