"""How many times slower than usual a target answers, whatever the length of the prompt (pure)."""

import math

from pointsman.domain.outcome import Usage
from pointsman.domain.request import RequestFacts
from pointsman.domain.usual import usual_ttft_s, usual_unary_s
from pointsman.domain.view import TYPICAL_OUTPUT_TOKENS
from pointsman.signals.load_slope import LATENCY_HALF_LIVES_S, LoadSlope
from pointsman.signals.two_tracks import Sums, TwoTracks

_LONG_OUTPUT_TOKENS = 1_000  # of an answer without a cap; patience with what has not come yet
_BYTES_PER_TOKEN = 4.0
_MAX_GUESSED_TOKENS = 32_000.0  # a longer body is mostly images
_SLOW_MASS = 5.0  # of what is usual in the group
_FAST_MASS = 3.0  # of the slow track
_FAST_MARGIN = 0.4  # 49 % slower: less is noise, and the larger of two noisy numbers is always too large
_FAST_MIN_WEIGHT = 2.5  # three samples within some seconds
_MAX_LOG = 8.0  # 3,000 times: beyond, a sample would weigh more than an outage


def usual_s(facts: RequestFacts, usage: Usage | None) -> float:
    """Seconds a usual target needs for an answer like this one: until its first content, or as a whole."""
    counted = usage.input_tokens if usage is not None else None
    input_tokens = guessed_tokens(facts)
    if usage is not None and counted is not None:
        input_tokens = float(max(counted - (usage.cached_tokens or 0), 0))
    if facts.stream:
        return usual_ttft_s(input_tokens)
    written = usage.output_tokens if usage is not None else None
    return usual_unary_s(input_tokens, TYPICAL_OUTPUT_TOKENS if written is None else max(written, 0))


def patient_s(facts: RequestFacts) -> float:
    """The same before anything is known of the answer: generous, as a long answer is no fault."""
    input_tokens = guessed_tokens(facts)
    if facts.stream:
        return usual_ttft_s(input_tokens)
    cap = facts.max_output_tokens
    return usual_unary_s(input_tokens, _LONG_OUTPUT_TOKENS if cap is None else min(max(cap, 0), _LONG_OUTPUT_TOKENS))


def guessed_tokens(facts: RequestFacts) -> float:
    """Input tokens, before a provider has counted them."""
    return min(facts.body_bytes / _BYTES_PER_TOKEN, _MAX_GUESSED_TOKENS)


def slowness_at(sums: Sums, prior: float) -> float:
    """Times as long as usual. `prior`: ln of the mean of the group, to which a silent target returns."""
    return math.exp(mean_at(sums, prior, is_fast=is_slowing(sums, prior)))


def is_slowing(sums: Sums, prior: float) -> bool:
    """Whether the last seconds count, and not what is usual for the target."""
    slow = sums.slow(prior, _SLOW_MASS)
    return sums.fast_weight >= _FAST_MIN_WEIGHT and sums.fast(slow, _FAST_MASS) > slow + _FAST_MARGIN


def mean_at(sums: Sums, prior: float, *, is_fast: bool) -> float:
    """The mean of one of the tracks."""
    slow = sums.slow(prior, _SLOW_MASS)
    return sums.fast(slow, _FAST_MASS) if is_fast else slow


def latest_log(sums: Sums) -> float | None:
    """The mean of the last seconds, by the samples of the target alone; None: too few."""
    if sums.fast_weight < _FAST_MIN_WEIGHT:
        return None
    return sums.fast(sums.slow_sum / sums.slow_weight, _FAST_MASS)


class Slowness:
    """ln(measured / usual) on two tracks: patient downward, quick upward. 0: as fast as a usual target."""

    __slots__ = ("sampled_at", "samples", "slope", "tracks")

    def __init__(self) -> None:
        self.tracks = TwoTracks(**LATENCY_HALF_LIVES_S)
        self.samples = 0
        self.sampled_at = -math.inf  # monotonic seconds
        self.slope: LoadSlope | None = None  # None: nobody asks what load does to it

    def observe(self, measured_s: float, usual: float, now: float, in_flight: int = 0) -> float:
        """What was learned. `in_flight`: others, when the attempt began."""
        return self._add(_log_ratio(measured_s, usual), now, in_flight)

    def at_least(self, bound_s: float, usual: float, now: float, in_flight: int = 0) -> None:
        """It took longer than this, nobody knows how much: evidence only if that is slow."""
        bound, sums = _log_ratio(bound_s, usual), self.tracks.at(now)
        if bound > (sums.slow_sum / sums.slow_weight if sums.slow_weight else 0.0):
            self._add(bound, now, in_flight)

    def _add(self, value: float, now: float, in_flight: int) -> float:
        self.tracks.observe(value, now)
        if self.slope is not None:
            self.slope.observe(value, in_flight, now)
        self.samples += 1
        self.sampled_at = now
        return value


def _log_ratio(measured_s: float, usual: float) -> float:
    # not the logarithm of the ratio: of the smallest numbers it is 0
    return min(max(math.log(measured_s) - math.log(usual), -_MAX_LOG), _MAX_LOG)
