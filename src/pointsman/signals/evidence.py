"""How many callers stand behind something, remembered in constant space (pure)."""

import math


class CallerEvidence:
    """The last two distinct callers and when each was last seen; two are all that any rule asks for."""

    def __init__(self) -> None:
        self._last, self.last_at = "", -math.inf
        self._other_at = -math.inf

    def add(self, caller: str, now: float) -> None:
        if caller != self._last:
            self._other_at = self.last_at
            self._last = caller
        self.last_at = now

    def has_two_within(self, window_s: float, now: float) -> bool:
        """True if two different callers were seen in the last `window_s` seconds."""
        return now - self._other_at <= window_s and now - self.last_at <= window_s
