"""Time for tests: a clock that moves only when it is told to."""


class FakeClock:
    """A clock that stands still until `advance`; both of its times move together."""

    def __init__(self, now: float = 1_000.0, utc: float = 1_800_000_000.0) -> None:
        self._now = now
        self._utc = utc

    def now(self) -> float:
        """Monotonic seconds."""
        return self._now

    def utc(self) -> float:
        """Seconds since 1970."""
        return self._utc

    def advance(self, duration_s: float) -> None:
        """Move both times forward."""
        if duration_s < 0:
            raise ValueError(f"time cannot go back: advance({duration_s})")
        self._now += duration_s
        self._utc += duration_s
