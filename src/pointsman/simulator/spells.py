"""How soon a policy leaves targets that are in trouble, and how soon it comes back."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from pointsman.simulator.plan import Spell
from pointsman.simulator.world import Sent

_PRIOR_S = 300.0  # before the trouble: what was usual
_LEAST_PRIOR = 0.05  # of the traffic: who had less has nothing to leave
_LEFT_WINDOW_S, _LEFT_RATIO = 20.0, 0.2
_BACK_WINDOW_S, _BACK_RATIO = 45.0, 0.5
_STEP_S = 1.0


class Attempts:
    """All attempts of a run, by time."""

    def __init__(self, sent: Sequence[Sent], end_s: float) -> None:
        ordered = sorted(sent, key=lambda attempt: attempt.at_s)
        self._times = [attempt.at_s for attempt in ordered]
        self._targets = [attempt.target for attempt in ordered]
        self._end_s = end_s

    def share(self, targets: Sequence[str], begin_s: float, end_s: float) -> float:
        """Fraction of the attempts between two times; 0 if there were none."""
        window = self._targets[bisect_left(self._times, begin_s) : bisect_left(self._times, end_s)]
        return sum([target in targets for target in window]) / len(window) if window else 0.0

    def detected_s(self, spell: Spell) -> float | None:
        """Seconds until nearly all traffic was elsewhere; inf: never; None: there was next to nothing to take away."""
        prior = self._prior(spell)
        if prior < _LEAST_PRIOR:
            return None
        end_s = min(spell.end_s, self._end_s)
        return self._first(spell, spell.begin_s, end_s, _LEFT_WINDOW_S, lambda share: share <= _LEFT_RATIO * prior)

    def recovered_s(self, spell: Spell) -> float | None:
        """Seconds until half of the traffic was back; inf: never; None: there was nothing to bring back, or no end."""
        prior = self._prior(spell)
        if prior < _LEAST_PRIOR or spell.end_s >= self._end_s:
            return None
        return self._first(spell, spell.end_s, self._end_s, _BACK_WINDOW_S, lambda share: share >= _BACK_RATIO * prior)

    def _prior(self, spell: Spell) -> float:
        return self.share(spell.targets, max(spell.begin_s - _PRIOR_S, 0.0), spell.begin_s)

    def _first(
        self, spell: Spell, begin_s: float, end_s: float, window_s: float, holds: Callable[[float], bool]
    ) -> float:
        at_s = begin_s
        while at_s < end_s:
            if holds(self.share(spell.targets, at_s, at_s + window_s)):
                return at_s - begin_s
            at_s += _STEP_S
        return float("inf")
