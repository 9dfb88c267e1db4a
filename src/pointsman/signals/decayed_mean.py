"""A mean that forgets (pure)."""

import math

_MIN_WEIGHT = 1e-9  # below this nothing is left to divide by: only the prior counts


class DecayedMean:
    """Samples lose half of their weight in every half-life; the mean is drawn toward a prior, never toward zero."""

    __slots__ = ("_at", "_half_life_s", "_sum", "_weight")

    def __init__(self, half_life_s: float) -> None:
        self._half_life_s = half_life_s
        self._weight, self._sum, self._at = 0.0, 0.0, -math.inf

    def observe(self, sample: float, now: float) -> None:
        """One NaN would poison the sum for ever, so what is not finite is refused."""
        if not math.isfinite(sample):
            return
        keep = self._kept(now)
        self._weight, self._sum, self._at = keep * self._weight + 1.0, keep * self._sum + sample, max(now, self._at)

    def weight_at(self, now: float) -> float:
        """Samples that are left."""
        weight = self._kept(now) * self._weight
        return weight if weight >= _MIN_WEIGHT else 0.0

    def value_at(self, now: float, prior: float, mass: float) -> float:
        """The mean, where the prior counts as `mass` samples."""
        weight = self.weight_at(now)
        return prior if not weight else (self._kept(now) * self._sum + mass * prior) / (weight + mass)

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / self._half_life_s)
