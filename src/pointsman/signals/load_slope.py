"""How much slower one target answers the more it has in flight (pure).

A straight line through ln(latency) over ln(1 + in flight). Slope 0: it does not care; 1: it serves one after the other.
"""

import math
from collections.abc import Sequence

from pointsman.signals.two_tracks import TwoTracks

_HALF_LIFE_S = 240.0  # longer than a burst, so that light and heavy load are seen beside each other
_PRIOR_SLOPE = 0.1  # hosted targets hardly care
_PRIOR_MASS = 8.0  # of spread in ln(1 + in flight): load that hardly varies teaches next to nothing
MAX_SLOPE = 2.5
LATENCY_HALF_LIVES_S = {"slow_half_life_s": 180.0, "fast_half_life_s": 15.0}  # of latencies, and of the loads they had
_MIN_LOG, _MAX_LOG = -0.7, 3.0  # half as long, 20 times as long: beyond, a line is no law


class LoadSlope:
    """Decayed moments of the samples around their own mean: raw sums would cancel out."""

    __slots__ = ("_at", "_mean_load", "_mean_log", "_product", "_spread", "_weight", "loads")

    def __init__(self) -> None:
        self.loads = TwoTracks(**LATENCY_HALF_LIVES_S)
        self._weight, self._mean_load, self._mean_log, self._at = 0.0, 0.0, 0.0, -math.inf
        self._spread, self._product = 0.0, 0.0  # sums of load x load and of load x latency, both less their means

    def observe(self, log_latency: float, in_flight: int, now: float) -> None:
        """`in_flight`: others, when the attempt began."""
        load, keep = math.log1p(in_flight), self._kept(now)
        self.loads.observe(load, now)
        self._weight = keep * self._weight + 1.0
        beside = load - self._mean_load
        self._mean_load += beside / self._weight
        self._mean_log += (log_latency - self._mean_log) / self._weight
        self._spread = keep * self._spread + beside * (load - self._mean_load)
        self._product = keep * self._product + beside * (log_latency - self._mean_log)
        self._at = max(now, self._at)

    def moments_at(self, now: float) -> tuple[float, float]:
        """Spread of the load, and how the latency went with it: what is left of both."""
        keep = self._kept(now)
        return keep * self._spread, keep * self._product

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S)


def slope_at(slopes: Sequence[LoadSlope], now: float) -> float:
    """One slope for all kinds of answers of a target; of a target in silence it returns to the usual one."""
    moments = [each.moments_at(now) for each in slopes]
    spread, product = sum([each[0] for each in moments]), sum([each[1] for each in moments])
    return min(max((product + _PRIOR_MASS * _PRIOR_SLOPE) / (spread + _PRIOR_MASS), 0.0), MAX_SLOPE)


def load_factor(slope: float, mean_load: float, in_flight: int) -> float:
    """Times as long as at the load that the latency was learned at."""
    return math.exp(min(max(slope * (math.log1p(in_flight) - mean_load), _MIN_LOG), _MAX_LOG))
