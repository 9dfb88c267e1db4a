"""The retry budget of one group: extra attempts are a share of its traffic (pure)."""

import math

from pointsman.domain.policy import Retry

_SLICES = 10  # of the window; the budget forgets in steps of a tenth


class RetryBudget:
    """`base + ratio x requests` extra attempts in any window (I22: no amplification beyond it)."""

    def __init__(self) -> None:
        self._requests = [0] * _SLICES
        self._spent = [0] * _SLICES
        self._slice = -1  # number of the current slice since the clock's zero
        self._slice_ends_at = -math.inf

    def request_began(self, now: float, policy: Retry) -> None:
        if now >= self._slice_ends_at:
            self._turn(now, policy)
        self._requests[self._slice % _SLICES] += 1

    def spend(self, now: float, policy: Retry) -> None:
        """One extra attempt begins."""
        self._turn(now, policy)
        self._spent[self._slice % _SLICES] += 1

    def left(self, now: float, policy: Retry) -> float:
        """Extra attempts that may still begin; less than 1: none."""
        first = self._slice_at(now, policy) - _SLICES + 1
        live = [index % _SLICES for index in range(max(first, self._slice - _SLICES + 1), self._slice + 1)]
        requests, spent = sum(self._requests[i] for i in live), sum(self._spent[i] for i in live)
        return policy.budget_base + policy.budget_ratio * requests - spent

    def _slice_at(self, now: float, policy: Retry) -> int:
        return math.floor(now * _SLICES / policy.budget_window_s)

    def _turn(self, now: float, policy: Retry) -> None:
        """Empty the slices that time has passed over."""
        current = self._slice_at(now, policy)
        for index in range(max(self._slice + 1, current - _SLICES + 1), current + 1):
            self._requests[index % _SLICES] = self._spent[index % _SLICES] = 0
        self._slice = max(self._slice, current)
        self._slice_ends_at = (self._slice + 1) * policy.budget_window_s / _SLICES
