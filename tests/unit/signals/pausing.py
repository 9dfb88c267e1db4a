"""A target's pauses with a clock of their own, so that a test reads as the story of an outage."""

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import Cooldown
from pointsman.domain.view import Breaker
from pointsman.signals.pauses import Attempt, Pauses
from pointsman.testing import builders

BEGIN = 1_000.0


class Draws:
    """An rng that always draws the same number."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def random(self) -> float:
        return self.value


class Outage:
    """Pauses of one target; attempts take no time unless `started_at` is given."""

    def __init__(self, policy: Cooldown | None = None, *, draw: float = 0.0, shared: bool = False) -> None:
        self.pauses, self.now = Pauses(), BEGIN
        self._policy, self._rng, self._is_shared = policy or Cooldown(), Draws(draw), shared

    def ends(
        self,
        outcome_class: OutcomeClass | str,
        *,
        caller: str = "alice",
        started_at: float | None = None,
        is_outlier: bool = False,
        is_needed: bool = False,
        **details: object,
    ) -> None:
        """An attempt ends now."""
        began = self.now if started_at is None else started_at
        attempt = Attempt(caller, began, self._is_shared, is_outlier, is_needed)
        self.pauses.record(builders.outcome(outcome_class, **details), attempt, self.now, self._rng, self._policy)

    def later(self, duration_s: float) -> None:
        self.now += duration_s

    def until_half_open(self) -> None:
        self.now = self.pauses.until

    @property
    def breaker(self) -> Breaker:
        return self.pauses.breaker(self.now)

    @property
    def pause_s(self) -> float:
        """Seconds from now to the end of the pause."""
        return self.pauses.until - self.now


def paused() -> Outage:
    """A target that three faults in a row have just paused for 30 s."""
    outage = Outage()
    for _ in range(3):
        outage.ends("upstream_fault")
    return outage
