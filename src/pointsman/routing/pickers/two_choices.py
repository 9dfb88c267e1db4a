"""Two draws in proportion to weight, with replacement; the lower load wins, and of equal ones the first drawn.

Without replacement a pair of targets would always be drawn both, and weights would mean nothing (G-055).
"""

from bisect import bisect_right
from itertools import accumulate

from pointsman.domain.ports import Rng
from pointsman.routing.pickers.pick import Pick


def pick(weights: tuple[float, ...], loads: tuple[float, ...], rng: Rng) -> Pick:
    bounds, last = list(accumulate(weights)), len(weights) - 1
    first, second = [min(bisect_right(bounds, rng.random() * bounds[-1]), last) for _ in range(2)]
    index = second if loads[second] < loads[first] else first
    shares = _shares([weight / bounds[-1] for weight in weights], loads)
    return Pick(index, shares, shares[index])


def _shares(drawn: list[float], loads: tuple[float, ...]) -> tuple[float, ...]:
    """Probability of each pick: drawn twice, beside one of more load in either order, or before one of equal load."""
    among: dict[float, float] = {}  # by load: the chance that a draw has it
    for load, chance in zip(loads, drawn, strict=True):
        among[load] = among.get(load, 0.0) + chance
    ahead: dict[float, float] = {}  # by load: the chance to win beside the other draw
    heavier = 0.0
    for load in sorted(among, reverse=True):
        ahead[load] = among[load] + 2.0 * heavier
        heavier += among[load]
    return tuple([chance * ahead[load] for load, chance in zip(loads, drawn, strict=True)])
