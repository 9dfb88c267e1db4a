"""How long one target takes with next to nothing in flight (pure)."""

import math

from pointsman.signals.decayed_mean import DecayedMean
from pointsman.signals.in_flight_limit import LIGHT_LOAD

_HALF_LIFE_S = 1_800.0  # longer than most overloads, in which nobody sees a target at light load
_PRIOR_LOG = 0.8  # 2.2 times as long as usual: until it was seen, what is slower counts as overload
_PRIOR_MASS = 5.0  # attempts


class LightLoad:
    """Sees the attempts that began at light load, and bounds by them what the slope says of it."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen = DecayedMean(_HALF_LIFE_S)

    def observe(self, log_latency: float, in_flight: int, now: float) -> None:
        if in_flight <= LIGHT_LOAD:
            self._seen.observe(log_latency, now)

    def log_at(self, now: float, mean_log: float, mean_load: float, slope: float) -> float:
        """Ln of times as long as usual, on the line through the means of all that is remembered.

        Where latency rises ever faster that line is too high at light load: what was seen there bounds it.
        """
        on_line = mean_log + slope * (math.log1p(LIGHT_LOAD) - mean_load)
        return min(on_line, self._seen.value_at(now, _PRIOR_LOG, _PRIOR_MASS))
