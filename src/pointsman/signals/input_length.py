"""How many tokens a model makes of a text, learned from what its providers count (pure)."""

import math

from pointsman.domain.request import Script

CHARS_PER_TOKEN = {Script.LATIN: 4.0, Script.CJK: 1.5}  # where nothing is learned yet: usual tokenizers on usual text
_PRIOR_CHARS = 2_000.0  # weight of that beginning: some short prompts, or one long one
_HALF_LIFE_S = 1_800.0  # what a model is used for changes within hours
_MIN_CHARS_PER_TOKEN, _MAX_CHARS_PER_TOKEN = 0.25, 32.0  # beyond these the count is not one of this text


class TokensPerChar:
    """A ratio of decayed sums, so that long texts count by their length; drawn toward the usual one."""

    def __init__(self, script: Script) -> None:
        self._prior_tokens = _PRIOR_CHARS / CHARS_PER_TOKEN[script]
        self._tokens, self._chars, self._at = 0.0, 0.0, -math.inf

    def observe(self, tokens: int, chars: int, now: float) -> None:
        """A provider counted so many tokens in a request of so many characters."""
        if not tokens * _MIN_CHARS_PER_TOKEN <= chars <= tokens * _MAX_CHARS_PER_TOKEN:
            return
        keep = self._kept(now)
        self._tokens, self._chars, self._at = keep * self._tokens + tokens, keep * self._chars + chars, now

    def value_at(self, now: float) -> float:
        keep = self._kept(now)
        return (keep * self._tokens + self._prior_tokens) / (keep * self._chars + _PRIOR_CHARS)

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S)
