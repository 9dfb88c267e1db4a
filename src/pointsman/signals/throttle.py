"""All limits of one target as one gate: configured, told by its provider, learned from its rate limits (pure)."""

import math

from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass, ToldLimit
from pointsman.domain.target import Limits
from pointsman.domain.value import Leaf
from pointsman.domain.view import Limit
from pointsman.signals.backoff import Backoff
from pointsman.signals.hard_limits import HardLimits
from pointsman.signals.traffic_cap import TrafficCap, beyond

MIN_GATE = 0.02  # what is learned may be wrong, and only traffic can tell


class Gate(Leaf):
    """Probability of being admitted; 0: `limit` excludes the target until then."""

    value: float = 1.0
    limit: Limit | None = None
    until: float = 0.0  # monotonic seconds


class Throttle:
    """Kept for a target that has a configured limit, or was told one, or has met one."""

    def __init__(self, began_at: float, limits: Limits | None = None) -> None:
        self._hard = None if limits is None else HardLimits(limits)
        self._backoff = Backoff()
        self._caps = {unit: TrafficCap(began_at) for unit in LimitedUnit}
        self._told: dict[LimitedUnit, tuple[float, float]] = {}  # per second, until
        self._held_until = -math.inf

    def is_over(self, now: float) -> bool:
        """Nothing is left of it: the target is as free as one that never met a limit."""
        is_told = now < max([self._held_until, *[until for _, until in self._told.values()]])
        caps_are_forgotten = all(cap.is_forgotten(now) for cap in self._caps.values())
        return self._hard is None and caps_are_forgotten and not is_told

    def sent(self, tokens: float, now: float) -> None:
        """An attempt begins, of about so many tokens."""
        self._caps[LimitedUnit.REQUESTS].sent(1.0, now)
        self._caps[LimitedUnit.TOKENS].sent(tokens, now)
        if self._hard is not None:
            self._hard.sent(tokens, now)

    def ended(self, outcome: Outcome, tokens: float, sent_at: float, now: float) -> None:
        """It ended; `tokens` as they were counted when it was sent."""
        amounts = {LimitedUnit.REQUESTS: 1.0, LimitedUnit.TOKENS: tokens}
        if outcome.outcome_class is OutcomeClass.RATE_LIMITED:
            self._backoff.refused(now)
            for unit, cap in self._caps.items():
                cap.refused(amounts[unit], sent_at, now)
        elif outcome.status is not None:
            for unit, cap in self._caps.items():
                cap.served(amounts[unit], now)
        for told in outcome.told_limits:
            self._tell(told, now)
        if self._hard is not None and outcome.usage is not None:
            used = (outcome.usage.input_tokens or 0) + (outcome.usage.output_tokens or 0)
            self._hard.used(max(used - tokens, 0.0), now)

    def gate(self, in_flight: int, now: float) -> Gate:
        """Changes nothing."""
        reached = None if self._hard is None else self._hard.reached(in_flight, now)
        if reached is not None:
            return Gate(0.0, *reached)
        if now < self._held_until:
            return Gate(0.0, Limit.PROVIDER, self._held_until)
        # both caps learn from the same refusals: together they would count them twice
        cap = min([cap.gate(now) for cap in self._caps.values()])
        told = [beyond(self._caps[unit].rate(now), most) for unit, (most, until) in self._told.items() if now < until]
        value = self._backoff.gate(now)
        for each in (cap, min(told, default=1.0)):
            value *= max(each, MIN_GATE)
        return Gate(max(value, MIN_GATE))

    def caps(self, now: float) -> dict[LimitedUnit, float]:
        """The learned caps per second."""
        return {unit: cap.at(now) for unit, cap in self._caps.items() if cap.at(now) < math.inf}

    def _tell(self, told: ToldLimit, now: float) -> None:
        if told.remaining >= 1.0:
            self._told[told.unit] = told.remaining / max(told.reset_s, 1.0), now + told.reset_s
        else:
            self._held_until = max(self._held_until, now + told.reset_s)
