"""The load at which a target begins to refuse: learned from its rate limits, and forgotten (pure).

Requests per second or tokens per second, whatever it is fed with.
"""

import math

from pointsman.signals.rate import Highest, Rate

_PAIR_S = 5.0  # one 429 is chance, two within this time are a limit
_MIN_REFUSED = 0.05  # of the attempts: less is the provider's noise
_MIN_LOAD = 0.5  # of the highest served rate: below, the limit is not about our load (O-013)
_HIGHEST_MINUTES = 5
_CUT_GAP_S = 5.0  # half the memory of the rates: until then they do not show what a cut did
_CUT = 0.9
_QUIET_S = 10.0  # without a 429, before the cap grows
_GROWTH_GAP_S = 2.0
_GROWTH, _SLOW_GROWTH = 1.03, 1.02  # 7 min to double, slower where the last limit was
_NEAR = 0.95
_MIN_USE = 0.7  # a cap that nobody comes near says nothing, and so does not grow
_FORGOTTEN_S = 600.0
_RAMP = 0.15  # above the cap, until nothing but a trickle gets through


class TrafficCap:
    """Begins with the first 429 of its target; measures from then on."""

    def __init__(self, began_at: float) -> None:
        self._sent, self._served, self._refused = Rate(began_at), Rate(began_at), Rate(began_at)
        self._highest = Highest(_HIGHEST_MINUTES)
        self._cap = math.inf
        self._ceiling = math.inf  # the rate, or the cap, at the latest cut
        self._cut_at = self._grown_at = self._refused_at = began_at

    def rate(self, now: float) -> float:
        """What is sent, per second."""
        return self._sent.at(now)

    def at(self, now: float) -> float:
        """The cap per second; infinite: none is known."""
        return math.inf if self.is_forgotten(now) else self._cap

    def is_forgotten(self, now: float) -> bool:
        return now - self._refused_at > _FORGOTTEN_S

    def gate(self, now: float) -> float:
        """1 up to the cap, and then down, below 0 at last."""
        return beyond(self._sent.at(now), self.at(now))

    def sent(self, amount: float, now: float) -> None:
        self._sent.add(amount, now)
        self._cap = self.at(now)
        is_quiet = now - self._refused_at >= _QUIET_S and now - self._grown_at >= _GROWTH_GAP_S
        if is_quiet and self._sent.at(now) > _MIN_USE * self._cap:
            self._cap *= _GROWTH if self._cap < _NEAR * self._ceiling else _SLOW_GROWTH
            self._grown_at = now

    def served(self, amount: float, now: float) -> None:
        self._served.add(amount, now)
        self._highest.add(self._served.at(now), now)

    def refused(self, amount: float, sent_at: float, now: float) -> None:
        """A 429 for a request that was sent at that time."""
        self._refused.add(amount, now)
        is_second, self._refused_at = now - self._refused_at <= _PAIR_S, now
        if is_second and sent_at > self._cut_at and now - self._cut_at >= _CUT_GAP_S and self._is_overloaded(now):
            self._cut(now)

    def _is_overloaded(self, now: float) -> bool:
        rate = self._sent.at(now)
        return self._refused.at(now) >= _MIN_REFUSED * rate and rate > _MIN_LOAD * self._highest.at(now)

    def _cut(self, now: float) -> None:
        rate = self._sent.at(now)
        self._ceiling = rate if self._cap == math.inf else self._cap
        self._cap = _CUT * max(self._served.at(now), min(self._cap, rate))
        self._cut_at = now


def beyond(rate: float, cap: float) -> float:
    """How wide the gate is at a rate: 1 up to the cap, 0 a little above it."""
    return 1.0 if rate <= cap else 1.0 - (rate / cap - 1.0) / _RAMP
