"""How fast and how reliable one target is: what its attempts tell (pure).

Failures never make a target look fast. An attempt that ended while nothing had come yet took at least as long as that.
"""

import math
from typing import TypeGuard

from msgspec import structs

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.request import RequestFacts
from pointsman.signals.load import Company, Load
from pointsman.signals.money import Money
from pointsman.signals.peak_ewma import PeakEwma
from pointsman.signals.ratios import FAILURES, RATE_LIMITS
from pointsman.signals.slowness import Slowness, usual_s
from pointsman.signals.two_tracks import TwoTracks
from pointsman.signals.window import Window

_TTFB_TAU_S = 10.0  # Finagle's and linkerd's: a peak is nearly forgotten after half a minute
_OK_STATUS = 200
_TIMED = frozenset((OutcomeClass.OK, OutcomeClass.CALLER_GONE))  # how fast it was is not its failure's speed
_FAILED: dict[OutcomeClass, float] = {
    OutcomeClass.OK: 0.0,
    OutcomeClass.BROKEN_STREAM: 1.0,
    OutcomeClass.BAD_PAYLOAD: 1.0,
    OutcomeClass.CREDENTIAL_FAULT: 1.0,
    OutcomeClass.MISSING: 1.0,
    OutcomeClass.UPSTREAM_FAULT: 1.0,
}  # the others are about the request, its caller, or a limit: no evidence of reliability
_RATE_LIMITED: dict[OutcomeClass, float] = {OutcomeClass.OK: 0.0, OutcomeClass.RATE_LIMITED: 1.0}


class Tracks:
    """Kept for targets of groups whose strategy reads them."""

    __slots__ = (
        "broken",
        "failures",
        "load",
        "money",
        "rate_limits",
        "served_at",
        "streams",
        "ttfb",
        "unary",
        "windows",
    )

    def __init__(self) -> None:
        self.streams, self.unary = Slowness(), Slowness()
        self.ttfb = PeakEwma(_TTFB_TAU_S)
        self.failures = FAILURES.new()
        self.served_at = -math.inf  # the latest success
        self.rate_limits: TwoTracks | None = None  # None: no strategy reads them
        self.money: Money | None = None  # None: no strategy reads it
        self.load: Load | None = None  # None: no strategy reads a latency
        self.broken: TwoTracks | None = None  # None: no strategy reads it
        self.windows: dict[float, Window] = {}  # by their length in seconds: those that strategies read

    @property
    def samples(self) -> int:
        return self.streams.samples + self.unary.samples

    @property
    def sampled_at(self) -> float:
        """Monotonic seconds of the last time that a latency was learned."""
        return max(self.streams.sampled_at, self.unary.sampled_at)

    def forgive(self) -> None:
        """It has proved that it works again: it starts as a typical peer."""
        self.failures = FAILURES.new()
        if self.rate_limits is not None:
            self.rate_limits = RATE_LIMITS.new()

    def observe(self, facts: RequestFacts, outcome: Outcome, now: float, company: Company | None = None) -> None:
        """An attempt for such a request has ended. `company` None: it began before anybody counted."""
        has_failed = _FAILED.get(outcome.outcome_class)
        if has_failed is not None:
            self.failures.observe(has_failed, now)
            if not has_failed:
                self.served_at = now
        if self.rate_limits is not None and outcome.outcome_class in _RATE_LIMITED:
            self.rate_limits.observe(_RATE_LIMITED[outcome.outcome_class], now)
        for window in self.windows.values():
            window.observe(outcome, now)
        slowness, usual = self.streams if facts.stream else self.unary, usual_s(facts, None)
        beside, learned = 0 if company is None else company.at_start, None
        if outcome.outcome_class in _TIMED and _is_time(outcome.ttft_s):
            learned = slowness.observe(outcome.ttft_s, usual_s(facts, outcome.usage), now, beside)
        elif _is_cut(outcome):
            slowness.at_least(outcome.duration_s, usual, now, beside)
        self._observe_ttfb(outcome, usual, now)
        if self.money is not None:
            self._observe_money(self.money, facts, outcome, now, beside)
        if self.load is not None and company is not None:
            self.load.observe(outcome, slowness, learned, company, now)

    def _observe_money(self, money: Money, facts: RequestFacts, outcome: Outcome, now: float, beside: int) -> None:
        money.observe(outcome, now, stream=facts.stream)
        if outcome.outcome_class is OutcomeClass.OK and not facts.stream:
            ttft_s = money.unary_ttft_s(outcome, now)
            if ttft_s is not None:
                usual = usual_s(structs.replace(facts, stream=True), outcome.usage)
                self.streams.observe(ttft_s, usual, now, beside)

    def _observe_ttfb(self, outcome: Outcome, usual: float, now: float) -> None:
        if outcome.outcome_class in _TIMED and _is_time(outcome.ttfb_s):
            self.ttfb.observe(outcome.ttfb_s, now)
        elif outcome.ttfb_s is None and _is_cut(outcome):
            self.ttfb.at_least(outcome.duration_s, usual, now)


def _is_time(value: float | None) -> TypeGuard[float]:
    """Whether it can be learned from: one NaN would poison a sum for ever."""
    return value is not None and math.isfinite(value) and value > 0.0


def _is_cut(outcome: Outcome) -> bool:
    """Ended while it was still being waited for: by a deadline, a caller who left, a broken connection."""
    return outcome.ttft_s is None and outcome.status in {None, _OK_STATUS} and _is_time(outcome.duration_s)
