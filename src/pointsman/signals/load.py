"""What load does to one target: how much slower it gets, and how much it takes (pure)."""

from pointsman.domain.outcome import Outcome
from pointsman.domain.value import Leaf
from pointsman.signals.in_flight_limit import InFlightLimit
from pointsman.signals.light_load import LightLoad
from pointsman.signals.load_slope import LoadSlope, slope_at
from pointsman.signals.slowness import Slowness, latest_log

_TIMEOUTS = frozenset(("timeout_first_content", "timeout_idle", "timeout_total"))


class Company(Leaf):
    """How many other attempts an attempt shared its target with."""

    began_at: float
    at_start: int
    at_end: int


class Load:
    """Kept for targets of groups whose strategy reads a latency."""

    __slots__ = ("_light", "_limit", "_slopes")

    def __init__(self, streams: Slowness, unary: Slowness) -> None:
        streams.slope, unary.slope = LoadSlope(), LoadSlope()
        self._slopes = (streams.slope, unary.slope)
        self._light, self._limit = LightLoad(), InFlightLimit()

    @property
    def is_limited(self) -> bool:
        return self._limit.is_known

    def slope_at(self, now: float) -> float:
        return slope_at(self._slopes, now)

    def limit_at(self, now: float) -> float:
        """Attempts in flight; infinite: none is known."""
        return self._limit.at(self.slope_at(now))

    def gate(self, in_flight: int, now: float) -> float:
        return self._limit.gate(self.slope_at(now), in_flight) if self.is_limited else 1.0

    def observe(
        self, outcome: Outcome, slowness: Slowness, log_latency: float | None, company: Company, now: float
    ) -> None:
        """An attempt has ended; `log_latency` None: its time says nothing about the target."""
        most = max(company.at_start, company.at_end)
        if outcome.detail in _TIMEOUTS:
            self._limit.timed_out(most, company.began_at, now)
            return
        if log_latency is None or slowness.slope is None:
            return
        self._light.observe(log_latency, company.at_start, now)
        sums, loads, slope = slowness.tracks.at(now), slowness.slope.loads.at(now), self.slope_at(now)
        usual_log = latest_log(sums)
        if usual_log is None:
            return
        means = sums.slow_sum / sums.slow_weight, loads.slow_sum / max(loads.slow_weight, 1.0)
        at_light_load = self._light.log_at(now, *means, slope)
        self._limit.answered(
            log_latency, usual_log, at_light_load, slope=slope, in_flight=most, began_at=company.began_at, now=now
        )
