"""Everything learned about one target, whichever groups use it (pure)."""

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import Cooldown
from pointsman.domain.ports import Rng
from pointsman.domain.request import RequestFacts
from pointsman.domain.view import TargetView
from pointsman.signals.evidence import CallerEvidence
from pointsman.signals.pauses import Attempt, Pauses
from pointsman.signals.tracks import Tracks

_OK = OutcomeClass.OK  # an attribute of an enumeration is searched for each time


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
    """In flight, pauses, who uses it, and how fast it is."""

    def __init__(self) -> None:
        self.tracks: Tracks | None = None  # None: no strategy reads them
        self._leases: set[Lease] = set()  # in flight is their number: it cannot leak past its scope
        self.waiting: dict[Lease, None] = {}  # those without content yet, the oldest first
        self._pauses = Pauses()
        self._callers = CallerEvidence()
        self._probe: Lease | None = None

    @property
    def in_flight(self) -> int:
        return len(self._leases)

    @property
    def is_closed(self) -> bool:
        """No pause, and none to recover from: traffic flows."""
        return self._pauses.cause is None

    def begin(self, caller: str, now: float, *, is_probe: bool, facts: RequestFacts | None = None) -> Lease:
        """An attempt starts; a probe holds the only permit until it ends. Without `facts` no time is learned."""
        lease = Lease(self, caller, now, facts, is_probe=is_probe)
        self._leases.add(lease)
        if self.tracks is not None:
            self.waiting[lease] = None
        self._callers.add(caller, now)
        if is_probe:
            self._probe = lease
        return lease

    def end(self, lease: Lease, outcome: Outcome, now: float, rng: Rng, policy: Cooldown) -> bool:
        """An attempt ended; True: something may have been learned. Raises KeyError when it already had."""
        self._leases.remove(lease)
        if self.tracks is not None:
            self.waiting.pop(lease, None)
            if lease.facts is not None:
                self.tracks.observe(lease.facts, outcome, now)
        if self._probe is lease:
            self._probe = None
        if outcome.outcome_class is _OK and self._pauses.is_spotless:
            return False  # the usual end: nothing to clear
        is_shared = self._callers.has_two_within(policy.shared_window_s, now)
        attempt = Attempt(lease.caller, lease.started_at, is_target_shared=is_shared)
        self._pauses.record(outcome, attempt, now, rng, policy)
        return True

    def view(self, now: float) -> TargetView:
        return TargetView(
            breaker=self._pauses.breaker(now),
            pause_cause=self._pauses.cause,
            paused_until=self._pauses.until,
            is_probing=self._probe is not None,
            is_probe_overdue=self._pauses.is_probe_overdue(now),
        )
