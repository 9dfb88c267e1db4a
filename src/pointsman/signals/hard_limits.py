"""Limits of the configuration: what is at one of them takes nothing more, until it has room again (pure)."""

import math
from collections import deque

from pointsman.domain.target import Limits
from pointsman.domain.view import Limit

_RECHECK_S = 0.1  # nobody knows when an attempt ends
_MINUTE_S = 60.0
_SLICES = 60  # of a window: what falls into one slice counts until its last has left the window


class Window:
    """How much there was in the last `span_s` seconds, never less than the truth."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._parts: deque[tuple[float, float, float]] = (
            deque()
        )  # began, last time, amount; as many as there are slices

    def add(self, amount: float, now: float) -> None:
        self._forget(now)
        if self._parts and now - self._parts[-1][0] < self._span_s / _SLICES:
            began_at, _, before = self._parts.pop()
            self._parts.append((began_at, now, before + amount))
        else:
            self._parts.append((now, now, amount))

    def full_until(self, limit: float, now: float) -> float | None:
        """When there is less than `limit` again; None: there is."""
        left = sum([amount for _, last_at, amount in self._parts if now < last_at + self._span_s])
        if left < limit:
            return None
        for _, last_at, amount in self._parts:
            if now < last_at + self._span_s:
                left -= amount
                if left < limit:
                    return last_at + self._span_s
        return math.inf  # the limit is 0

    def _forget(self, now: float) -> None:
        while self._parts and now >= self._parts[0][1] + self._span_s:
            self._parts.popleft()


class HardLimits:
    """The limits of one target, and what counts against them."""

    def __init__(self, limits: Limits) -> None:
        self._max_concurrent = limits.max_concurrent or math.inf
        rate = limits.max_rps or math.inf
        self._burst = math.inf if rate == math.inf else max(math.floor(rate), 1)  # less than 1/s: one in a longer time
        self._requests = Window(self._burst / rate if rate < math.inf else 0.0)
        self._max_tokens = limits.max_tpm or math.inf
        self._tokens = Window(_MINUTE_S)

    def sent(self, tokens: float, now: float) -> None:
        if self._burst < math.inf:
            self._requests.add(1.0, now)
        self.used(tokens, now)

    def used(self, tokens: float, now: float) -> None:
        """More tokens than were expected when it was sent."""
        if self._max_tokens < math.inf:
            self._tokens.add(tokens, now)

    def reached(self, in_flight: int, now: float) -> tuple[Limit, float] | None:
        """The limit that nothing more fits into, and the soonest time at which something may."""
        if in_flight >= self._max_concurrent:
            return Limit.MAX_CONCURRENT, now + _RECHECK_S
        for limit, window, most in (
            (Limit.MAX_RPS, self._requests, self._burst),
            (Limit.MAX_TPM, self._tokens, self._max_tokens),
        ):
            until = None if most == math.inf else window.full_until(most, now)
            if until is not None:
                return limit, until
        return None
