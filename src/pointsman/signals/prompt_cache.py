"""How much of a prompt one target is going to read from its cache (pure).

Nobody tells what a provider keeps. Known are the prompts it has read, and how much of later ones it read from a cache.
"""

import math

from pointsman.domain.conversation import Prefix
from pointsman.domain.outcome import Usage
from pointsman.signals.cache_life import CacheLife

MAX_ENDS = 4_096  # prompts that are remembered; 0.5 MB for each target
MIN_CACHED_TOKENS = 1_024  # shorter beginnings are not kept by any provider
_HALF_LIFE_S = 1_800.0  # of the share of input that came from a cache
_PRIOR_TOKENS = 50_000.0  # that came from none: some requests of an agent


class PromptCache:
    """What is known of one target's cache."""

    __slots__ = ("_at", "_cached", "_ends", "_input", "life")

    def __init__(self) -> None:
        self._ends: dict[bytes, float] = {}  # how a prompt ended -> when it was last read; the latest are at the end
        self.life = CacheLife()
        self._cached, self._input, self._at = 0.0, 0.0, -math.inf

    def __len__(self) -> int:
        return len(self._ends)

    def expected_tokens(self, prefix: Prefix | None, input_tokens: int, now: float) -> int:
        """Tokens of a request that are going to come from the cache. Changes nothing."""
        found = self._longest(prefix)
        if found is None:
            return round(input_tokens * self._usual_ratio(now))
        share, age_s = found[0], now - found[1]
        shared_tokens = share * input_tokens
        return round(shared_tokens * self.life.chance(age_s)) if shared_tokens >= MIN_CACHED_TOKENS else 0

    def learn(self, prefix: Prefix | None, usage: Usage, now: float) -> None:
        """The target has read such a prompt."""
        if usage.input_tokens is not None and usage.cached_tokens is not None:
            found = self._longest(prefix)
            if found is not None and found[0] * usage.input_tokens >= MIN_CACHED_TOKENS:
                self.life.observe(now - found[1], was_warm=usage.cached_tokens > 0, now=now)
            keep = self._kept(now)
            self._cached = keep * self._cached + min(usage.cached_tokens, usage.input_tokens)
            self._input, self._at = keep * self._input + usage.input_tokens, now
        if prefix is not None:
            self._remember((prefix.ends[0], prefix.ends[-1]), now)  # other conversations share the head only

    def _remember(self, ends: tuple[bytes, ...], now: float) -> None:
        for end in ends:
            self._ends.pop(end, None)
            self._ends[end] = now
        while len(self._ends) > MAX_ENDS:
            del self._ends[next(iter(self._ends))]

    def _longest(self, prefix: Prefix | None) -> tuple[float, float] | None:
        """The share of the prompt that was read before, and when; None: no part of it was."""
        if prefix is None or not self._ends:
            return None
        for end, length in zip(reversed(prefix.ends), reversed(prefix.lengths), strict=True):
            read_at = self._ends.get(end)
            if read_at is not None:
                return length / prefix.lengths[-1], read_at
        return None

    def _usual_ratio(self, now: float) -> float:
        keep = self._kept(now)
        return keep * self._cached / (keep * self._input + _PRIOR_TOKENS)

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S)
