"""A gate that narrows with every 429 and opens again by itself within some seconds (pure)."""

import math

_PER_429 = 0.8
_FLOOR = 0.1
_TAU_S = 10.0
_OPEN = 0.999  # what is missing from there on is nothing


class Backoff:
    """1 until the first 429."""

    __slots__ = ("_at", "_gate")

    def __init__(self) -> None:
        self._gate, self._at = 1.0, -math.inf

    def refused(self, now: float) -> None:
        self._gate = max(self.gate(now) * _PER_429, _FLOOR)
        self._at = max(now, self._at)

    def gate(self, now: float) -> float:
        gate = 1.0 - (1.0 - self._gate) * math.exp(min(self._at - now, 0.0) / _TAU_S)
        return 1.0 if gate >= _OPEN else gate
