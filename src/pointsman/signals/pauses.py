"""Pauses of one target: one state machine of deadlines that are compared when read (pure).

closed -> open (paused until a deadline) -> half_open (one probe) -> closed, or open again for twice as long.
"""

import math
from collections import Counter

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import Cooldown, On429
from pointsman.domain.ports import Rng
from pointsman.domain.value import Value
from pointsman.domain.view import Breaker, PauseCause
from pointsman.signals.evidence import CallerEvidence
from pointsman.signals.slow_start import SlowStart

MAX_RETRY_AFTER_S = 300.0  # a provider may not park itself for longer on its own word
PROBE_PATIENCE_S = 20.0  # of a target that could be probed, for a request that no session holds elsewhere
_INSIDE = frozenset(
    (OutcomeClass.OK, OutcomeClass.UPSTREAM_FAULT, OutcomeClass.BROKEN_STREAM, OutcomeClass.BAD_PAYLOAD)
)
_MAX_LEVEL = 16  # far past any cap, and 2**16 is still a sane number


class Attempt(Value):
    """The circumstances of one finished attempt."""

    caller: str
    started_at: float  # monotonic seconds
    is_target_shared: bool  # two callers used the target within `Cooldown.shared_window_s` (I19)
    is_outlier: bool = False  # the target does far worse than its peers
    is_needed: bool = False  # the others could not carry what a first pause of the target would leave to them


class Pauses:
    """When this target is out of the running. Reading never changes it, and no timer does."""

    def __init__(self) -> None:
        self._until: float | None = None  # None: closed
        self._began_at = -math.inf
        self._cause = PauseCause.FAULTS
        self._level = 0  # pauses since the last recovery: each is twice as long as the one before
        self._successes = 0  # since the latest pause
        self._streak = 0
        self._streak_callers = CallerEvidence()
        self._blaming_callers = CallerEvidence()  # of faults that may be ours or the caller's
        self.slow_start: SlowStart | None = None  # after a recovery
        self.is_spared = False  # a pause was due, but the target is needed: since then no success
        self.is_spent = False  # paused, and whatever it was asked in spite of that, it failed
        self.begun: Counter[PauseCause] = Counter()  # pauses so far

    @property
    def is_spotless(self) -> bool:
        """Closed, and nothing is held against the target: a success has nothing to clear."""
        return self._until is None and self._streak == 0 and self.slow_start is None and not self.is_spared

    @property
    def cause(self) -> PauseCause | None:
        return None if self._until is None else self._cause

    @property
    def until(self) -> float:
        """Monotonic seconds at which the pause ends; 0 while closed."""
        return self._until or 0.0

    def breaker(self, now: float) -> Breaker:
        if self._until is None:
            return Breaker.CLOSED
        return Breaker.OPEN if now < self._until else Breaker.HALF_OPEN

    def gate(self, now: float) -> float:
        """How much of its traffic a target may have that has recovered."""
        return 1.0 if self.slow_start is None else self.slow_start.gate(now)

    def is_probe_overdue(self, now: float) -> bool:
        return self._until is not None and now >= self._until + PROBE_PATIENCE_S

    def record(self, outcome: Outcome, attempt: Attempt, now: float, rng: Rng, policy: Cooldown) -> None:
        """Learn from one finished attempt."""
        if self._until is not None and attempt.started_at < self._until:
            self._record_inside(outcome, attempt, now, policy)
        elif outcome.outcome_class is OutcomeClass.OK:
            self._succeed(now, policy)
        else:
            self._record_fault(outcome, attempt, now, rng, policy)

    def _record_inside(self, outcome: Outcome, attempt: Attempt, now: float, policy: Cooldown) -> None:
        """Sent before or during the pause: one outage is one step, however many of its requests fail."""
        if attempt.started_at >= self._began_at and outcome.outcome_class in _INSIDE:
            self._record_in_spite(outcome, now, policy)
        elif outcome.outcome_class is OutcomeClass.RATE_LIMITED:
            self._hold(_held_s(outcome), now)

    def _record_in_spite(self, outcome: Outcome, now: float, policy: Cooldown) -> None:
        """It was asked although it is paused. A success is the best proof there is."""
        if outcome.outcome_class is OutcomeClass.OK:
            self._streak, self.is_spent = 0, False
            self._succeed(now, policy)
        else:
            self._streak += 1
            self.is_spent = self._streak >= policy.fault_threshold

    def _hold(self, held_s: float, now: float) -> None:
        """A Retry-After that outlasts the pause is what the target now waits for."""
        if held_s > 0 and now + held_s > self.until:
            self._until, self._cause = now + held_s, PauseCause.RATE_LIMIT

    def _record_fault(self, outcome: Outcome, attempt: Attempt, now: float, rng: Rng, policy: Cooldown) -> None:
        is_probe = self._until is not None
        match outcome.outcome_class:
            case OutcomeClass.RATE_LIMITED:
                self._record_limit(outcome, attempt, now, rng, policy)
            case OutcomeClass.UPSTREAM_FAULT | OutcomeClass.BROKEN_STREAM | OutcomeClass.BAD_PAYLOAD as kind:
                self._count(attempt, now)
                if is_probe or self._is_streak_enough(kind, attempt, now, policy):
                    self._eject(PauseCause.FAULTS, attempt, now, rng, policy)
                elif attempt.is_outlier:
                    self._eject(PauseCause.OUTLIER, attempt, now, rng, policy)
            case OutcomeClass.CREDENTIAL_FAULT | OutcomeClass.MISSING as kind:
                self._count(attempt, now)
                self._blaming_callers.add(attempt.caller, now)
                if is_probe or self._is_confirmed(outcome, attempt, now, policy):
                    cause = PauseCause.CREDENTIAL if kind is OutcomeClass.CREDENTIAL_FAULT else PauseCause.MISSING
                    self._pause(cause, now, rng, policy, at_least_s=policy.max_s)
            case _:
                pass  # about the request or its caller: says nothing about the target

    def _record_limit(self, outcome: Outcome, attempt: Attempt, now: float, rng: Rng, policy: Cooldown) -> None:
        is_probe, held_s = self._until is not None, _held_s(outcome)
        if policy.on_429 is On429.ESCALATE or (is_probe and held_s > 0):
            self._pause(PauseCause.RATE_LIMIT, now, rng, policy, at_least_s=held_s)
        elif held_s > 0:
            self._begin(PauseCause.RATE_LIMIT, held_s, now, rng, policy)
        elif is_probe or attempt.is_outlier:
            cause = self._cause if is_probe else PauseCause.OUTLIER  # what is not over goes on
            self._eject(cause, attempt, now, rng, policy)

    def _count(self, attempt: Attempt, now: float) -> None:
        self._streak += 1
        self._streak_callers.add(attempt.caller, now)

    def _is_streak_enough(self, kind: OutcomeClass, attempt: Attempt, now: float, policy: Cooldown) -> bool:
        if self._streak < policy.fault_threshold:
            return False
        if kind is OutcomeClass.BAD_PAYLOAD and attempt.is_target_shared:
            return self._streak_callers.has_two_within(policy.shared_window_s, now)
        return True

    def _is_confirmed(self, outcome: Outcome, attempt: Attempt, now: float, policy: Cooldown) -> bool:
        """Whether a 401, 402 or 404 really is our fault (I19: one caller alone never pauses)."""
        two = self._blaming_callers.has_two_within
        if attempt.is_target_shared and not two(policy.shared_window_s, now):
            return False
        return outcome.confirmed or two(policy.confirm_window_s, now) or self._streak >= policy.fault_threshold

    def _eject(self, cause: PauseCause, attempt: Attempt, now: float, rng: Rng, policy: Cooldown) -> None:
        """Pause, unless the target is needed; one that is paused already stays so."""
        if attempt.is_needed and self._until is None:
            self.is_spared = True
        else:
            self._pause(cause, now, rng, policy)

    def _pause(self, cause: PauseCause, now: float, rng: Rng, policy: Cooldown, *, at_least_s: float = 0.0) -> None:
        length_s = max(min(policy.base_s * 2.0**self._level, policy.max_s), at_least_s)
        self._level = min(self._level + 1, _MAX_LEVEL)
        self._begin(cause, length_s, now, rng, policy)

    def _begin(self, cause: PauseCause, length_s: float, now: float, rng: Rng, policy: Cooldown) -> None:
        self._until = now + length_s * (1.0 + policy.jitter_ratio * rng.random())
        self._began_at, self._cause = now, cause
        self.begun[cause] += 1
        self._streak, self._successes, self.slow_start = 0, 0, None
        self.is_spared = self.is_spent = False

    def _succeed(self, now: float, policy: Cooldown) -> None:
        self._successes += 1
        if self._until is not None and self._successes < policy.closing_successes:
            return
        if self._until is not None:
            self.slow_start = SlowStart(now, min(policy.slow_start_s, self._until - self._began_at))
        elif self.slow_start is not None and self.slow_start.is_over(now):
            self.slow_start = None
        self._until, self._level, self._streak, self.is_spared = None, 0, 0, False
        self._streak_callers, self._blaming_callers = CallerEvidence(), CallerEvidence()


def _held_s(outcome: Outcome) -> float:
    return min(max(outcome.retry_after_s or 0.0, 0.0), MAX_RETRY_AFTER_S)
