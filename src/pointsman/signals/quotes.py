"""What adjusted prices are made of, for each target of a group at one instant (pure)."""

import math
from collections.abc import Sequence
from statistics import median_low

from msgspec import structs

from pointsman.domain.usual import usual_ttft_s, usual_unary_s
from pointsman.domain.view import TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS, Measured
from pointsman.signals.money import Money, decodes
from pointsman.signals.tracks import Tracks

_USUAL_TTFT_S = usual_ttft_s(TYPICAL_INPUT_TOKENS)
_USUAL_UNARY_S = usual_unary_s(TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS)
_TTFT_SPREAD = 0.35  # of ln(time) from request to request
_TTFT_MASS = 5.0  # samples of a typical peer
_FAILURE_MASS = 10.0  # attempts of one
_UNKNOWN = Money()  # of a target that was never used; never fed


def quoted(group: Sequence[Measured], tracks: Sequence[Tracks], now: float) -> tuple[Measured, ...]:
    """The same with prices' parts. Who was never asked counts as a target of the middle."""
    moneys = [track.money or _UNKNOWN for track in tracks]
    slowness = [
        seen.unary_s / _USUAL_UNARY_S if track.unary.samples and seen.unary_s is not None else None
        for seen, track in zip(group, tracks, strict=True)
    ]
    typical_s = median_low([seen.ttft_s for seen in group if seen.ttft_s is not None] or [_USUAL_TTFT_S])
    found = []
    for seen, track, money, decode in zip(group, tracks, moneys, decodes(moneys, slowness, now), strict=True):
        losses = money.losses_at(now)
        found.append(
            structs.replace(
                seen,
                ttft_s=typical_s if seen.ttft_s is None else seen.ttft_s,
                decode_tps=decode.tps,
                fault_s=losses.fault_s,
                rejection_s=losses.rejection_s,
                lost_input_tokens=losses.input_tokens,
                lost_output_tokens=losses.output_tokens,
                ttft_error=_TTFT_SPREAD / math.sqrt(_times(track, now) + _TTFT_MASS),
                decode_error=decode.error,
                failure_error=_ratio_error(seen.failure_ratio, track.failures.at(now).slow_weight),
                rate_limited_error=_ratio_error(seen.rate_limited_ratio, _attempts(track, now)),
            )
        )
    return tuple(found)


def _times(track: Tracks, now: float) -> float:
    """Latencies that are remembered, of whichever kind of answer tells more."""
    return max(track.streams.tracks.at(now).slow_weight, track.unary.tracks.at(now).slow_weight)


def _attempts(track: Tracks, now: float) -> float:
    return 0.0 if track.rate_limits is None else track.rate_limits.at(now).slow_weight


def _ratio_error(ratio: float | None, weight: float) -> float:
    """The spread of the Beta distribution that a ratio is the mean of."""
    mean = 0.0 if ratio is None else ratio
    return math.sqrt(mean * (1.0 - mean) / (weight + _FAILURE_MASS + 1.0))
