"""The best by one measured number, for requests that sort; the next best after a failure.

Numbers that are nearly equal are equal: among those weights draw, so that a target that is fast again is found again.
"""

from collections.abc import Sequence
from statistics import median_low

from pointsman.domain.decision import DecisionMode
from pointsman.domain.view import TYPICAL_OUTPUT_TOKENS, Measured
from pointsman.routing.scorers.contest import Contest, Verdict

_EQUAL_WITHIN_RATIO = 0.05  # fifty samples of a latency tell no more


def by_latency(contest: Contest) -> Verdict:
    """Seconds to the first content; of answers that are not streamed, to the end."""
    times_s = _filled([seen.ttft_s if contest.stream else seen.unary_s for seen in contest.measured])
    return _verdict(contest, "latency_s", times_s, [1.0 / time_s for time_s in times_s], DecisionMode.LATENCY)


def by_throughput(contest: Contest) -> Verdict:
    """Tokens per second of a whole answer of usual length, with the time to its first one (O-024)."""
    speeds_tps = _filled([_end_to_end_tps(seen) for seen in contest.measured])
    return _verdict(contest, "output_tps", speeds_tps, speeds_tps, DecisionMode.THROUGHPUT)


def _end_to_end_tps(seen: Measured) -> float | None:
    if seen.ttft_s is None or seen.decode_tps is None:
        return None
    return TYPICAL_OUTPUT_TOKENS / (seen.ttft_s + TYPICAL_OUTPUT_TOKENS / seen.decode_tps)


def _filled(values: Sequence[float | None]) -> tuple[float, ...]:
    """Who was never measured counts as one of the middle."""
    middle = median_low([value for value in values if value is not None] or [1.0])
    return tuple([middle if value is None else value for value in values])


def _verdict(
    contest: Contest, name: str, shown: tuple[float, ...], speeds: Sequence[float], mode: DecisionMode
) -> Verdict:
    line = max(speeds) * (1.0 - _EQUAL_WITHIN_RATIO)
    weights = [weight if speed >= line else 0.0 for weight, speed in zip(contest.weights, speeds, strict=True)]
    return Verdict(tuple(weights), (mode,) * len(weights), {name: shown})
