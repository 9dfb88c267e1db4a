"""How many attempts in flight one target takes before it slows down too much: learned, and forgotten (pure)."""

import math

from pointsman.signals.throttle import MIN_GATE

_INFLATION = 2.5  # times the latency at light load: too slow
LIGHT_LOAD = 3  # attempts in flight
_MIN_SLOPE = 0.3  # below, it is not our load that slows it down
_LEAST = 4.0
_CUT = 0.9
_GROWTH, _GROWTH_STEP = 1.1, 1.0
_MIN_USE = 0.7  # a limit that nobody comes near says nothing, and so does not grow
_MANY = 8  # in flight, with which a timeout may be due to load
_OPEN_UNTIL, _CLOSED_FROM = 0.9, 1.1  # parts of the limit, between which the gate narrows


class InFlightLimit:
    """Infinite until load has made the target slow.

    An attempt that began before the last change changes nothing: it does not show what the change did.
    """

    __slots__ = ("_changed_at", "_limit")

    def __init__(self) -> None:
        self._limit, self._changed_at = math.inf, -math.inf

    @property
    def is_known(self) -> bool:
        return self._limit < math.inf

    def at(self, slope: float) -> float:
        """Attempts in flight."""
        return self._limit if slope >= _MIN_SLOPE else math.inf

    def gate(self, slope: float, in_flight: int) -> float:
        """1 up to a little below the limit, and then down to a trickle."""
        limit = self.at(slope)
        if in_flight <= _OPEN_UNTIL * limit:
            return 1.0
        beyond = (in_flight / limit - _OPEN_UNTIL) / (_CLOSED_FROM - _OPEN_UNTIL)
        return 1.0 - min(beyond, 1.0) * (1.0 - MIN_GATE)

    def answered(
        self, log_latency: float, usual_log: float, at_light_load: float, *, slope: float, in_flight: int,
        began_at: float, now: float,
    ) -> None:  # fmt: skip
        """`log_latency`: of this attempt; `usual_log`: of the last seconds; `in_flight`: the most beside it."""
        if slope < _MIN_SLOPE:
            self._limit = math.inf
            return
        if began_at <= self._changed_at:
            return
        too_slow = at_light_load + math.log(_INFLATION)
        if usual_log > too_slow:
            # The last seconds remember the load before a cut: the attempt itself must have met it, too. And where the
            # rest of the group cannot take what is beyond the limit, a lower one would not help.
            if log_latency > too_slow and _LEAST < in_flight <= _CLOSED_FROM * self._limit:
                self._cut_to(min(self._limit, in_flight, (1 + LIGHT_LOAD) * _INFLATION ** (1.0 / slope) - 1.0), now)
        elif self.is_known and in_flight > _MIN_USE * self._limit:
            self._limit, self._changed_at = _GROWTH * self._limit + _GROWTH_STEP, now

    def timed_out(self, in_flight: int, began_at: float, now: float) -> None:
        """An attempt was given up for want of an answer."""
        if self.is_known and in_flight > _MANY and began_at > self._changed_at:
            self._cut_to(self._limit, now)

    def _cut_to(self, limit: float, now: float) -> None:
        self._limit, self._changed_at = max(_CUT * limit, _LEAST), now
