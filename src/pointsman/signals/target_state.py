"""Everything learned about one target, whichever groups use it (pure)."""

import math
from collections.abc import Mapping

from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass
from pointsman.domain.policy import Cooldown
from pointsman.domain.ports import Rng
from pointsman.domain.price import Price
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import Limits
from pointsman.domain.view import Learned, PauseCause, TargetView
from pointsman.signals.evidence import CallerEvidence
from pointsman.signals.load import Company
from pointsman.signals.pauses import Attempt, Pauses
from pointsman.signals.price_factor import PriceFactor, is_off
from pointsman.signals.slowness import guessed_tokens
from pointsman.signals.throttle import MIN_GATE, Gate, Throttle
from pointsman.signals.tracks import Tracks

_OK = OutcomeClass.OK  # an attribute of an enumeration is searched for each time
_LIMITED = OutcomeClass.RATE_LIMITED
_OPEN = Gate()
_LIMITS_EVERY_S = 0.1  # what a provider says is left changes little in between, and reading costs as much as deciding


class Lease:
    """One attempt in flight. Released exactly once, synchronously, however the attempt ends."""

    __slots__ = ("caller", "facts", "is_probe", "started_at", "state")

    def __init__(
        self, state: "TargetState", caller: str, started_at: float, facts: RequestFacts | None, *, is_probe: bool
    ) -> None:
        self.state, self.caller, self.started_at, self.facts, self.is_probe = state, caller, started_at, facts, is_probe

    def answered(self) -> None:
        """The first content has come: the target is not waited for any more."""
        self.state.waiting.pop(self, None)


class TargetState:
    """In flight, pauses, limits, who uses it, and how fast it is."""

    def __init__(self, key: str = "") -> None:
        self.key = key  # of the target
        self.limits: Limits | None = None  # of the configuration
        self._throttle: Throttle | None = None  # None: no limit was ever met, told or configured
        self.tracks: Tracks | None = None  # None: no strategy reads them
        self.price_factor: PriceFactor | None = None  # None: it never said what it charges
        self._leases: set[Lease] = set()  # in flight is their number: it cannot leak past its scope
        self.waiting: dict[Lease, None] = {}  # those without content yet, the oldest first
        self._company: dict[Lease, int] = {}  # others in flight when it began; of those whose time is learned
        self._pauses = Pauses()
        self._callers = CallerEvidence()
        self._probe: Lease | None = None
        self._limits_due_at = -math.inf
        self.is_flagged = False  # too many of its answers to requests with tools can be used by nobody

    @property
    def in_flight(self) -> int:
        return len(self._leases)

    @property
    def asked_at(self) -> float:
        """When the latest attempt began; -inf: never."""
        return self._callers.last_at

    @property
    def is_closed(self) -> bool:
        """No pause, and none to recover from: traffic flows."""
        return self._pauses.cause is None

    @property
    def is_spared(self) -> bool:
        """It should be paused, but is needed."""
        return self._pauses.is_spared

    @property
    def is_spent(self) -> bool:
        """It was asked in spite of its pause, and failed again and again."""
        return self._pauses.is_spent

    @property
    def pauses_begun(self) -> Mapping[PauseCause, int]:
        """Pauses so far, by cause."""
        return self._pauses.begun

    @property
    def is_settled(self) -> bool:
        """Traffic flows, and nothing narrows it."""
        is_free = self._throttle is None and not self._is_slowed_by_load
        return self._pauses.cause is None and self._pauses.slow_start is None and is_free and not self.is_flagged

    @property
    def _is_slowed_by_load(self) -> bool:
        return self.tracks is not None and self.tracks.load is not None and self.tracks.load.is_limited

    def limit_to(self, limits: Limits | None) -> None:
        """What the configuration allows from now on; what was learned of other limits begins anew."""
        self.limits = limits
        self._throttle = None if limits is None else Throttle(-math.inf, limits)

    def begin(self, caller: str, now: float, *, is_probe: bool, facts: RequestFacts | None = None) -> Lease:
        """An attempt starts; a probe holds the only permit until it ends. Without `facts` no time is learned."""
        lease = Lease(self, caller, now, facts, is_probe=is_probe)
        if self.tracks is not None:
            self.waiting[lease] = None
            self._company[lease] = len(self._leases)
        self._leases.add(lease)
        if self._throttle is not None:
            self._throttle.sent(_tokens(facts), now)
        self._callers.add(caller, now)
        if is_probe:
            self._probe = lease
        return lease

    def end(self, lease: Lease, outcome: Outcome, now: float) -> bool:
        """An attempt ended; True: it is to be judged. Raises KeyError when it already had."""
        self._leases.remove(lease)
        if self._probe is lease:
            self._probe = None
        if self.tracks is not None and self._learn(self.tracks, lease, outcome, now):
            return True
        if outcome.outcome_class is not _OK or self._throttle is not None or outcome.told_limits:
            return True
        return not self._pauses.is_spotless  # else the usual end: nothing to clear

    def wants_limits(self, now: float) -> bool:
        """Whether to read what the head of a success says is left: each one, once little was; else now and then."""
        if self._throttle is None and now < self._limits_due_at:
            return False
        self._limits_due_at = now + _LIMITS_EVERY_S
        return True

    def _learn(self, tracks: Tracks, lease: Lease, outcome: Outcome, now: float) -> bool:
        """How long it took; True: load slows the target down, or did so until now."""
        self.waiting.pop(lease, None)
        at_start, was_slowed = self._company.pop(lease, None), self._is_slowed_by_load
        if lease.facts is not None:
            company = None if at_start is None else Company(lease.started_at, at_start, len(self._leases))
            tracks.observe(lease.facts, outcome, now, company)
        return was_slowed or self._is_slowed_by_load

    def judge(
        self, lease: Lease, outcome: Outcome, now: float, rng: Rng, policy: Cooldown, *,
        is_outlier: bool = False, is_needed: bool = False,
    ) -> None:  # fmt: skip
        """What an attempt that has ended means for the next ones; see `Attempt`."""
        is_shared = self._callers.has_two_within(policy.shared_window_s, now)
        attempt = Attempt(lease.caller, lease.started_at, is_shared, is_outlier, is_needed)
        was_closed = self.is_closed
        self._pauses.record(outcome, attempt, now, rng, policy)
        has_recovered = lease.is_probe and self.is_closed and not was_closed
        if has_recovered and policy.failures is not None and self.tracks is not None:
            self.tracks.forgive()  # else the ratios that it was paused for would keep it out for as long again
        self._limit(lease, outcome, now)

    def _limit(self, lease: Lease, outcome: Outcome, now: float) -> None:
        if self._throttle is None:
            if outcome.outcome_class is not _LIMITED and not outcome.told_limits:
                return
            self._throttle = Throttle(now, self.limits)
        self._throttle.ended(outcome, _tokens(lease.facts), lease.started_at, now)
        if self._throttle.is_over(now):
            self._throttle = None

    def view(self, now: float, *, flagged: bool = False) -> TargetView:
        found = _OPEN if self._throttle is None else self._throttle.gate(len(self._leases), now)
        gate = found.value
        if self.tracks is not None and self.tracks.load is not None:
            gate *= self.tracks.load.gate(len(self._leases), now)
        if found.limit is None:
            gate = max(gate * self._pauses.gate(now), MIN_GATE)
        return TargetView(
            breaker=self._pauses.breaker(now),
            pause_cause=self._pauses.cause,
            paused_until=self._pauses.until,
            is_probing=self._probe is not None,
            is_probe_overdue=self._pauses.is_probe_overdue(now),
            gate=gate,
            limit=found.limit,
            limited_until=found.until,
            flagged=flagged or self.is_flagged,
        )

    def learned(self, price: Price | None, now: float) -> Learned:
        """What load does to it, and what it charges beside that list price."""
        load = None if self.tracks is None else self.tracks.load
        limit = math.inf if load is None else load.limit_at(now)
        charged = self.price_factor
        factor = None if charged is None or not charged.is_of(price) else charged.at(now)
        return Learned(
            None if load is None else load.slope_at(now),
            None if limit == math.inf else limit,
            factor,
            None if factor is None else is_off(factor),
        )

    def caps(self, now: float) -> dict[LimitedUnit, float]:
        """Learned limits per second."""
        return {} if self._throttle is None else self._throttle.caps(now)


def _tokens(facts: RequestFacts | None) -> float:
    return 0.0 if facts is None else guessed_tokens(facts)
