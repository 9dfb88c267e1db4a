"""The gate of a target that has just recovered: it widens from a tenth to all within some seconds (pure)."""

from pointsman.domain.value import Value

FIRST_GATE = 0.1


class SlowStart(Value):
    """Began at a time, and lasts so long."""

    began_at: float  # monotonic seconds
    length_s: float

    def gate(self, now: float) -> float:
        """Between FIRST_GATE and 1. A clock that steps back narrows it no further."""
        if self.is_over(now):
            return 1.0
        return FIRST_GATE + (1.0 - FIRST_GATE) * max(now - self.began_at, 0.0) / self.length_s

    def is_over(self, now: float) -> bool:
        return now >= self.began_at + self.length_s
