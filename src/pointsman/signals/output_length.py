"""How many tokens the answers of a group have, by the length of what was asked (pure)."""

import math
from bisect import bisect_left

PRIOR_TOKENS = 200  # an answer of some paragraphs
_PRIOR_WEIGHT = 5.0  # answers; as many real ones outweigh it
_HALF_LIFE_S = 600.0  # what is asked of a group changes within the hour
_MAX_TOKENS = 1e6  # no model answers at such length
INPUT_BOUNDS_TOKENS = (1_000, 4_000, 16_000, 64_000)  # upper ends of the buckets; the last one is open


class _LogLength:
    """Mean and spread of the logarithm: lengths are skewed, and a few very long ones must not rule."""

    __slots__ = ("_at", "_squares", "_sum", "_weight")

    def __init__(self) -> None:
        self._weight, self._sum, self._squares, self._at = 0.0, 0.0, 0.0, -math.inf

    def observe(self, tokens: int, now: float) -> None:
        sample, keep = math.log(min(max(tokens, 1), _MAX_TOKENS)), self._kept(now)
        self._weight = keep * self._weight + 1.0
        self._sum = keep * self._sum + sample
        self._squares = keep * self._squares + sample * sample
        self._at = now

    def expected_at(self, now: float) -> float:
        """The mean of the log-normal distribution, in tokens."""
        keep, prior = self._kept(now), math.log(PRIOR_TOKENS)
        weight = keep * self._weight + _PRIOR_WEIGHT
        mean = (keep * self._sum + _PRIOR_WEIGHT * prior) / weight
        spread = max((keep * self._squares + _PRIOR_WEIGHT * prior * prior) / weight - mean * mean, 0.0)
        return math.exp(min(mean + spread / 2.0, math.log(_MAX_TOKENS)))

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S)


class OutputLengths:
    """One estimate per bucket of input lengths: long sessions and short questions get unlike answers."""

    def __init__(self) -> None:
        self._buckets = [_LogLength() for _ in range(len(INPUT_BOUNDS_TOKENS) + 1)]

    def observe(self, output_tokens: int, input_tokens: int, now: float) -> None:
        """A complete answer had so many tokens."""
        self._bucket(input_tokens).observe(output_tokens, now)

    def expected_at(self, input_tokens: int, now: float) -> float:
        return self._bucket(input_tokens).expected_at(now)

    def _bucket(self, input_tokens: int) -> _LogLength:
        return self._buckets[bisect_left(INPUT_BOUNDS_TOKENS, input_tokens)]
