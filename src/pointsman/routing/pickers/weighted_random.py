"""A draw in proportion to weight: 70/30 gives 70/30."""

from bisect import bisect_right
from itertools import accumulate

from pointsman.domain.derived import derived
from pointsman.domain.ports import Rng
from pointsman.domain.value import Value
from pointsman.routing.pickers.pick import Pick


class _Odds(Value):
    shares: tuple[float, ...]  # of each candidate; they sum to 1
    bounds: tuple[float, ...]  # upper end of each candidate's slice of [0, total)
    last: int  # the last candidate with a slice at all


@derived(maxsize=4096)
def _odds(weights: tuple[float, ...]) -> _Odds:
    bounds = tuple(accumulate(weights))
    last = max(index for index, weight in enumerate(weights) if weight > 0)
    return _Odds(tuple(weight / bounds[-1] for weight in weights), bounds, last)


def pick(weights: tuple[float, ...], turn_credits: tuple[float, ...], rng: Rng) -> Pick:
    """A candidate of weight zero has no slice and is never drawn."""
    odds = _odds(weights)
    drawn = bisect_right(odds.bounds, rng.random() * odds.bounds[-1])
    index = min(drawn, odds.last)  # rounding may leave a point on the upper end
    return Pick(index, odds.shares, odds.shares[index])
