"""How much per second, by an average that forgets in some seconds (pure)."""

import math

_TAU_S = 10.0
_MIN_SPAN_S = 1.0  # a single request is no rate


class Rate:
    """Exact from its beginning on: what it has not seen yet does not count as silence. That may be -inf: it does."""

    __slots__ = ("_at", "_began_at", "_sum")

    def __init__(self, began_at: float) -> None:
        self._began_at = self._at = began_at
        self._sum = 0.0

    def add(self, amount: float, now: float) -> None:
        self._sum = self._left(now) + amount
        self._at = max(now, self._at)

    def at(self, now: float) -> float:
        """Amount per second. A clock that steps back brings nothing back."""
        age_s = max(now, self._at) - self._began_at
        return self._left(now) / max(-_TAU_S * math.expm1(-age_s / _TAU_S), _MIN_SPAN_S)

    def _left(self, now: float) -> float:
        return self._sum * math.exp(min(self._at - now, 0.0) / _TAU_S)


class Highest:
    """The largest value of the last minutes, minute by minute."""

    __slots__ = ("_by_minute", "_minutes")

    def __init__(self, minutes: int) -> None:
        self._minutes = minutes
        self._by_minute: dict[int, float] = {}  # at most one more than `minutes`

    def add(self, value: float, now: float) -> None:
        minute = math.floor(now / 60.0)
        if value > self._by_minute.get(minute, -math.inf):
            self._by_minute = {each: high for each, high in self._by_minute.items() if each > minute - self._minutes}
            self._by_minute[minute] = value

    def at(self, now: float) -> float:
        """0 without any."""
        first = math.floor(now / 60.0) - self._minutes
        return max([high for minute, high in self._by_minute.items() if minute > first], default=0.0)
