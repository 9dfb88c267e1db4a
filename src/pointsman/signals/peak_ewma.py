"""The latest peak of a latency, on its way back to what is typical (pure)."""

import math


class PeakEwma:
    """Jumps to a peak at once, drifts back over tau_s seconds; None before any sample."""

    __slots__ = ("_at", "_tau_s", "_value")

    def __init__(self, tau_s: float) -> None:
        self._tau_s = tau_s
        self._value: float | None = None
        self._at = -math.inf

    @property
    def latest(self) -> float | None:
        """As it was when it was last fed."""
        return self._value

    def observe(self, sample: float, now: float) -> None:
        if self._value is None or sample >= self._value:
            self._value = sample
        else:
            keep = self._kept(now)
            self._value = keep * self._value + (1.0 - keep) * sample
        self._at = max(now, self._at)

    def at_least(self, bound: float, usual: float, now: float) -> None:
        """It took longer than this, nobody knows how much: evidence only above what is left, and above `usual`."""
        left = 0.0 if self._value is None else self._kept(now) * self._value
        if bound > max(left, usual):
            self._value, self._at = bound, max(now, self._at)

    def value_at(self, now: float, typical: float) -> float | None:
        """Never toward zero: silence is not speed."""
        if self._value is None:
            return None
        keep = self._kept(now)
        return keep * self._value + (1.0 - keep) * typical

    def _kept(self, now: float) -> float:
        return math.exp(min(self._at - now, 0.0) / self._tau_s)
