"""What the requests of a group are like, whoever answers them (pure)."""

from collections import deque
from statistics import median_low

from pointsman.domain.view import TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS, MarketView
from pointsman.signals.decayed_mean import DecayedMean

_HALF_LIFE_S = 3_600.0  # as slow as what a request is worth changes
_PRIOR_MASS = 5.0  # requests
_LATEST = 101  # inputs that the median is of; odd, so that it is one of them


class TokenMix:
    """Mean lengths, and the median of the latest inputs."""

    def __init__(self) -> None:
        self._input, self._output = DecayedMean(_HALF_LIFE_S), DecayedMean(_HALF_LIFE_S)
        self._inputs: deque[int] = deque(maxlen=_LATEST)

    def observe(self, input_tokens: int, output_tokens: int, now: float) -> None:
        """A complete answer, as its provider counted it."""
        if min(input_tokens, output_tokens) < 0:
            return
        self._input.observe(input_tokens, now)
        self._output.observe(output_tokens, now)
        self._inputs.append(input_tokens)

    def view(self, now: float) -> MarketView:
        return MarketView(
            self._input.value_at(now, TYPICAL_INPUT_TOKENS, _PRIOR_MASS),
            self._output.value_at(now, TYPICAL_OUTPUT_TOKENS, _PRIOR_MASS),
            float(median_low(self._inputs) if self._inputs else TYPICAL_INPUT_TOKENS),
        )
