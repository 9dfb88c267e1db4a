"""A group's numbers as of its latest tick: what is worked out ten times a second, not for every request (pure)."""

import math
from collections.abc import Callable, Mapping

from pointsman.domain.view import MarketView, Measured
from pointsman.signals.probes import Probes
from pointsman.signals.token_mix import TokenMix

TICK_S = 0.1  # a request moves none of these numbers by much, and working them out costs more than a decision


class Tick:
    """Renewed by the request that begins when it is old: a group that nobody uses costs nothing."""

    def __init__(self) -> None:
        self.mix, self.probes = TokenMix(), Probes()
        self._measured: tuple[Measured, ...] = ()
        self._market = MarketView()
        self._at = -math.inf

    def renewed(self) -> "Tick":
        """For another configuration of the group: what was learned goes on, what was worked out does not."""
        tick = Tick()
        tick.mix, tick.probes = self.mix, self.probes
        return tick

    def numbers(
        self, measure: Callable[[], tuple[Measured, ...]], now: float
    ) -> tuple[tuple[Measured, ...], MarketView]:
        """Those of the tick; if it is old, those of now, which nobody keeps. Changes nothing."""
        return (measure(), self.mix.view(now)) if self.is_old(now) else (self._measured, self._market)

    def is_old(self, now: float) -> bool:
        return not 0.0 <= now - self._at < TICK_S

    def renew(
        self, measured: tuple[Measured, ...], asked_at: Mapping[str, float], interval_s: float, now: float
    ) -> None:
        """`asked_at`: when each target had its last attempt, in the order of the group."""
        self._measured, self._market, self._at = measured, self.mix.view(now), now
        self.probes.look(asked_at, interval_s, now)
