"""What a provider allows per second."""


class Bucket:
    """Tokens that come back at a steady rate; full at the beginning."""

    def __init__(self, per_s: float, burst_s: float = 1.0) -> None:
        self.per_s = per_s
        self.room = max(per_s * burst_s, 1.0)
        self._left, self._at = self.room, 0.0

    def left(self, now: float) -> float:
        """Changes nothing."""
        return min(self.room, self._left + (now - self._at) * self.per_s)

    def admits(self, amount: float, now: float) -> bool:
        """What is larger than the bucket is admitted when it is full. Changes nothing."""
        return self.left(now) >= min(amount, self.room)

    def take(self, amount: float, now: float) -> None:
        self._left, self._at = self.left(now) - amount, now

    def change(self, per_s: float, now: float) -> None:
        """Another rate from now on; the room that is missing stays missing."""
        missing = self.room - self.left(now)
        self.per_s, self.room = per_s, max(per_s, 1.0)
        self._left, self._at = max(self.room - missing, 0.0), now

    def reset_s(self, now: float) -> float:
        """Seconds until it is full again."""
        return (self.room - self.left(now)) / self.per_s
