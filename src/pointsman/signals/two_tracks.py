"""The same samples remembered twice: for long, and for a short time (pure)."""

import math

from pointsman.domain.value import Leaf

_MIN_WEIGHT = 1e-9  # below this nothing is left to divide by: only the prior counts


class Sums(Leaf):
    """What is left of the samples at some time: their weight and their weighted sum, on both tracks."""

    slow_weight: float = 0.0
    slow_sum: float = 0.0
    fast_weight: float = 0.0
    fast_sum: float = 0.0

    def slow(self, prior: float, mass: float) -> float:
        """The mean of the slow track, where the prior counts as `mass` samples."""
        return (self.slow_sum + mass * prior) / (self.slow_weight + mass)

    def fast(self, prior: float, mass: float) -> float:
        return (self.fast_sum + mass * prior) / (self.fast_weight + mass)


NOTHING = Sums()


class TwoTracks:
    """Sums that lose half of their weight in every half-life; drawn toward a prior, never toward zero."""

    __slots__ = ("_at", "_fast_half_life_s", "_slow_half_life_s", "_sums")

    def __init__(self, *, slow_half_life_s: float, fast_half_life_s: float) -> None:
        self._slow_half_life_s, self._fast_half_life_s = slow_half_life_s, fast_half_life_s
        self._sums, self._at = NOTHING, -math.inf

    def observe(self, sample: float, now: float) -> None:
        left = self.at(now)
        self._sums = Sums(
            left.slow_weight + 1.0, left.slow_sum + sample, left.fast_weight + 1.0, left.fast_sum + sample
        )
        self._at = max(now, self._at)

    def at(self, now: float) -> Sums:
        """As far as they are remembered. A clock that steps back brings nothing back."""
        sums, age_s = self._sums, now - self._at
        if age_s <= 0.0 or sums is NOTHING:
            return sums
        slow_keep = math.exp2(-age_s / self._slow_half_life_s)
        if slow_keep * sums.slow_weight < _MIN_WEIGHT:
            return NOTHING
        fast_keep = math.exp2(-age_s / self._fast_half_life_s)
        return Sums(
            slow_keep * sums.slow_weight,
            slow_keep * sums.slow_sum,
            fast_keep * sums.fast_weight,
            fast_keep * sums.fast_sum,
        )
