"""Whether somebody who fails again and again is still asked (pure)."""

FAILURES = 5  # in a row: a single late answer is no outage
PAUSE_S = 10.0  # as long as each request would else wait in vain, times some hundred requests


class Circuit:
    """Open after failures in a row. After the pause one asks for all; if that fails, too, the next pause begins."""

    def __init__(self) -> None:
        self._failures = 0  # in a row
        self._until = 0.0  # monotonic seconds

    def begin(self, now: float) -> bool:
        """Whether to ask now."""
        if self._failures < FAILURES:
            return True
        if now < self._until:
            return False
        self._until = now + PAUSE_S  # also if this one never ends
        return True

    def ended(self, now: float, *, well: bool) -> bool:
        """An answer came, or none. True: the circuit opens with it."""
        if well:
            self._failures = 0
            return False
        self._failures += 1
        if self._failures >= FAILURES:
            self._until = now + PAUSE_S
        return self._failures == FAILURES
