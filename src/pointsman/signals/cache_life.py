"""How long a target keeps a prompt that nobody reads, learned from prompts that came back late (pure).

For a known time it is there; then it goes after an exponential time, whose mean is learned.
"""

import math

KEPT_FOR_S = 300.0  # as the large providers promise
_PRIOR_TAU_S = 120.0
_PRIOR_LOSSES = 3.0
_HALF_LIFE_S = 21_600.0  # providers change this rarely


class CacheLife:
    """Losses per second after the known time. Of a loss only the bound is known: it counts with its expected time."""

    __slots__ = ("_at", "_kept_s", "_losses")

    def __init__(self) -> None:
        self._losses, self._kept_s, self._at = 0.0, 0.0, -math.inf

    @property
    def tau_s(self) -> float:
        """Mean seconds that a prompt lasts after the known time."""
        return (self._kept_s + _PRIOR_LOSSES * _PRIOR_TAU_S) / (self._losses + _PRIOR_LOSSES)

    def chance(self, age_s: float) -> float:
        """That a prompt is still there so long after it was read."""
        return math.exp(min(KEPT_FOR_S - age_s, 0.0) / self.tau_s)

    def observe(self, age_s: float, *, was_warm: bool, now: float) -> None:
        """A prompt came back after so long. Within the known time it says nothing."""
        late_s = age_s - KEPT_FOR_S
        if late_s <= 0.0:
            return
        keep, tau_s = math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S), self.tau_s
        lasted_s = late_s if was_warm else tau_s - late_s / math.expm1(min(late_s / tau_s, 50.0))
        self._losses = keep * self._losses + (not was_warm)
        self._kept_s, self._at = keep * self._kept_s + lasted_s, now
