"""What an adjusted price needs of one target besides its latency and failures (pure).

How fast it writes, and what its failed attempts cost: time until a failure, time until a refusal, tokens charged.
"""

import math
from collections.abc import Sequence

from pointsman.domain.outcome import TARGET_FAULTS, Outcome, OutcomeClass
from pointsman.domain.usual import DECODE_TOKENS_PER_S
from pointsman.domain.value import Leaf
from pointsman.signals.decayed_mean import DecayedMean

_HALF_LIFE_S = 300.0  # the last minutes count the most
_MIN_OUTPUT_TOKENS = 16  # of shorter answers the pauses between two tokens say more than their number
_MIN_TPS, _MAX_TPS = 0.1, 10_000.0  # beyond, an answer was held back and came at once
_DECODE_MASS = 5.0  # answers of a typical peer
_DECODE_SPREAD = 0.10  # of ln(speed) from answer to answer
_LOSS_MASS = 3.0
_FAULT_S = 1.0  # until a failure, before any is known
_REJECTION_S = 0.2  # until a 429
_MIN_WEIGHT = 0.5  # answers, below which a speed is not used to tell a unary answer's first token


class Decode(Leaf):
    """A speed of writing, and how well it is known."""

    tps: float
    error: float  # standard error of ln(tps)


class Losses(Leaf):
    """What a failed attempt costs on average."""

    fault_s: float
    rejection_s: float
    input_tokens: float  # charged
    output_tokens: float


class Money:
    """Kept for targets of groups whose strategy reads money."""

    __slots__ = ("_faults", "_input", "_output", "_rejections", "_speed")

    def __init__(self) -> None:
        self._speed = DecayedMean(_HALF_LIFE_S)  # of ln(tokens per second)
        self._faults, self._rejections = DecayedMean(_HALF_LIFE_S), DecayedMean(_HALF_LIFE_S)
        self._input, self._output = DecayedMean(_HALF_LIFE_S), DecayedMean(_HALF_LIFE_S)

    def observe(self, outcome: Outcome, now: float, *, stream: bool) -> None:
        """An attempt has ended. Failures say nothing about speed."""
        if outcome.outcome_class is OutcomeClass.OK:
            if stream:
                self._observe_speed(outcome, now)
        elif outcome.outcome_class is OutcomeClass.RATE_LIMITED:
            self._rejections.observe(max(outcome.duration_s, 0.0), now)
        elif outcome.outcome_class in TARGET_FAULTS:
            self._faults.observe(max(outcome.duration_s, 0.0), now)
            usage = outcome.usage
            self._input.observe(0.0 if usage is None else max(usage.input_tokens or 0, 0), now)
            self._output.observe(0.0 if usage is None else max(usage.output_tokens or 0, 0), now)

    def unary_ttft_s(self, outcome: Outcome, now: float) -> float | None:
        """When the first token of an answer came that was sent as a whole; None: not known."""
        written = _written(outcome)
        if written is None or self._speed.weight_at(now) < _MIN_WEIGHT:
            return None
        ttft_s = outcome.duration_s - written / math.exp(self._speed.value_at(now, 0.0, 0.0))
        return ttft_s if ttft_s > 0.0 else None

    def losses_at(self, now: float) -> Losses:
        return Losses(
            self._faults.value_at(now, _FAULT_S, _LOSS_MASS),
            self._rejections.value_at(now, _REJECTION_S, _LOSS_MASS),
            self._input.value_at(now, 0.0, _LOSS_MASS),
            self._output.value_at(now, 0.0, _LOSS_MASS),
        )

    def weight_at(self, now: float) -> float:
        """Answers whose speed is remembered."""
        return self._speed.weight_at(now)

    def log_speed_at(self, now: float, prior: float, mass: float = _DECODE_MASS) -> float:
        return self._speed.value_at(now, prior, mass)

    def _observe_speed(self, outcome: Outcome, now: float) -> None:
        written = _written(outcome)
        if written is None or outcome.ttft_s is None:
            return
        decode_s = outcome.duration_s - outcome.ttft_s
        if decode_s > 0.0:
            self._speed.observe(math.log(min(max(written / decode_s, _MIN_TPS), _MAX_TPS)), now)


def _written(outcome: Outcome) -> int | None:
    """Tokens of the answer; None: not known, or too few to tell a speed by."""
    written = None if outcome.usage is None else outcome.usage.output_tokens
    return None if written is None or written < _MIN_OUTPUT_TOKENS else written


def decodes(group: Sequence[Money], unary_slowness: Sequence[float | None], now: float) -> list[Decode]:
    """One for each target, drawn toward the mean of all.

    Who has never streamed is as slow at writing as its whole answers are, until it is known better.
    """
    weights = [each.weight_at(now) for each in group]
    total, usual = sum(weights), math.log(DECODE_TOKENS_PER_S)
    rows = list(zip(group, weights, strict=True))
    typical = sum([weight * each.log_speed_at(now, 0.0, 0.0) for each, weight in rows]) / total if total else usual
    found = []
    for (each, weight), slowness in zip(rows, unary_slowness, strict=True):
        prior = typical if weight or slowness is None else usual - math.log(slowness)
        error = _DECODE_SPREAD / math.sqrt(weight + _DECODE_MASS)
        found.append(Decode(math.exp(each.log_speed_at(now, prior)), error))
    return found
