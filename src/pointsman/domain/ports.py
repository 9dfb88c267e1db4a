"""What the core asks of the outside world: time and chance, both handed in as arguments."""

from typing import Protocol


class Clock(Protocol):
    """Two clocks: one for durations, one for dates."""

    def now(self) -> float:
        """Monotonic seconds; the only time that decisions and durations may use."""
        ...

    def utc(self) -> float:
        """Seconds since 1970 in UTC; for records and HTTP dates only."""
        ...


class Rng(Protocol):
    """A source of uniform draws; `random.Random` fits."""

    def random(self) -> float:
        """A draw from [0, 1)."""
        ...
