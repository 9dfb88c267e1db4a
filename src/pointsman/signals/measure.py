"""What was measured of all targets of a group at one instant, each beside its peers (pure)."""

from collections.abc import Sequence

from pointsman.domain.usual import usual_ttft_s, usual_unary_s
from pointsman.domain.value import Leaf
from pointsman.domain.view import RARE_RATIO, TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS, Measured, Signal
from pointsman.signals.load_slope import load_factor
from pointsman.signals.overdue import NONE_OVERDUE, Overdue, overdue
from pointsman.signals.quality import BROKEN
from pointsman.signals.quotes import quoted
from pointsman.signals.ratios import FAILURES, RATE_LIMITS
from pointsman.signals.slowness import Slowness, is_slowing, mean_at, slowness_at
from pointsman.signals.target_state import TargetState
from pointsman.signals.tracks import Tracks
from pointsman.signals.two_tracks import NOTHING, Sums

_USUAL_TTFT_S = usual_ttft_s(TYPICAL_INPUT_TOKENS)
_USUAL_UNARY_S = usual_unary_s(TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS)
_UNKNOWN = Tracks()  # of a target that was never used; never fed
_LOAD_ALONE = frozenset((Signal.IN_FLIGHT, Signal.WINDOW))  # what was observed in windows is added by others


class _Times(Leaf):
    """Seconds that are to be expected; None: nothing was learned, or nobody asks."""

    ttft_s: float | None = None
    unary_s: float | None = None
    ttfb_s: float | None = None

    def slowness(self) -> float:
        """Times as long as usual."""
        ttft_s = self.ttft_s or self.ttfb_s
        return 1.0 if ttft_s is None else ttft_s / _USUAL_TTFT_S

    def under_load(self, factor: float) -> "_Times":
        """The same at the load of now; whole answers are known for a mean load only."""
        return self if self.ttft_s is None else _Times(self.ttft_s * factor, self.unary_s)

    def beside(self, late: Overdue, reads: frozenset[Signal]) -> "_Times":
        """The same, knowing who is waited for."""
        if Signal.TTFT in reads:
            return _Times(late.slowed(self.ttft_s or _USUAL_TTFT_S), late.slowed(self.unary_s or _USUAL_UNARY_S))
        return _Times(ttfb_s=late.slowed(self.ttfb_s or _USUAL_TTFT_S))


_NO_TIMES = _Times()


def measured(states: Sequence[TargetState | None], reads: frozenset[Signal], now: float) -> tuple[Measured, ...]:
    """One for each target; None: it was never used. Only what `reads` names is worked out: one kind of latency."""
    if reads <= _LOAD_ALONE:
        return tuple([Measured(0 if state is None else state.in_flight) for state in states])
    tracks = [_UNKNOWN if state is None or state.tracks is None else state.tracks for state in states]
    times = _latencies(tracks, now) if Signal.TTFT in reads else _ttfbs(tracks, now)
    if Signal.LOAD_SLOPE in reads:
        factors = _load_factors([0 if state is None else state.in_flight for state in states], tracks, now)
        times = [each.under_load(factor) for each, factor in zip(times, factors, strict=True)]
    ratios: Sequence[float | None] = [None] * len(states)
    limited = ratios
    if Signal.FAILURES in reads:
        ratios = FAILURES.means([track.failures.at(now) for track in tracks])
    if Signal.RATE_LIMITS in reads:
        limited = RATE_LIMITS.means([NOTHING if t.rate_limits is None else t.rate_limits.at(now) for t in tracks])
    broken: Sequence[float] = [RARE_RATIO] * len(states)
    if Signal.QUALITY in reads:
        broken = BROKEN.means([NOTHING if t.broken is None else t.broken.at(now) for t in tracks])
    found = []
    rows = zip(states, tracks, times, ratios, limited, broken, strict=True)
    for state, track, expected, ratio, limited_ratio, broken_ratio in rows:
        in_flight, late = 0, NONE_OVERDUE
        if state is not None:
            in_flight = state.in_flight
            if state.waiting:
                late = overdue(state.waiting, expected.slowness(), now)
        seen = expected.beside(late, reads) if late.count else expected
        found.append(Measured(
            in_flight, late.count, track.samples, seen.ttft_s, seen.unary_s, seen.ttfb_s, ratio, limited_ratio,
            broken_ratio,
        ))  # fmt: skip
    return quoted(found, tracks, now) if Signal.MONEY in reads else tuple(found)


def _latencies(tracks: Sequence[Tracks], now: float) -> list[_Times]:
    streams, unary = _slowness([track.streams for track in tracks], now), _slowness([t.unary for t in tracks], now)
    # who is slow at one kind is slow at the other, until it is known better
    return [
        _NO_TIMES if stream is None and whole is None else _latency(stream or whole or 1.0, whole or stream or 1.0)
        for stream, whole in zip(streams, unary, strict=True)
    ]


def _latency(stream: float, whole: float) -> _Times:
    return _Times(stream * _USUAL_TTFT_S, whole * _USUAL_UNARY_S)


def _slowness(group: Sequence[Slowness], now: float) -> list[float | None]:
    """Times as long as usual; None: nothing was learned. Each is drawn toward the mean of all."""
    sums = [each.tracks.at(now) for each in group]
    prior = _mean(sums)
    return [slowness_at(left, prior) if each.samples else None for each, left in zip(group, sums, strict=True)]


def _load_factors(in_flight: Sequence[int], tracks: Sequence[Tracks], now: float) -> list[float]:
    """Times as long as at the load that each latency was learned at, which is the mean of the same samples."""
    streams = [track.streams for track in tracks]
    sums = [each.tracks.at(now) for each in streams]
    loads = [NOTHING if each.slope is None else each.slope.loads.at(now) for each in streams]
    prior, usual_load = _mean(sums), _mean(loads)
    found = []
    for beside, track, own, load in zip(in_flight, tracks, sums, loads, strict=True):
        if track.load is None or not load.slow_weight:
            found.append(1.0)
        else:
            mean_load = mean_at(load, usual_load, is_fast=is_slowing(own, prior))
            found.append(load_factor(track.load.slope_at(now), mean_load, beside))
    return found


def _mean(sums: Sequence[Sums]) -> float:
    """Of all samples of a group; 0 without any."""
    weight = sum([each.slow_weight for each in sums])
    return sum([each.slow_sum for each in sums]) / weight if weight else 0.0


def _ttfbs(tracks: Sequence[Tracks], now: float) -> list[_Times]:
    """Peaks drift back toward the lower median: in a pair, toward the faster one."""
    latest = sorted([track.ttfb.latest for track in tracks if track.ttfb.latest is not None])
    if not latest:
        return [_NO_TIMES] * len(tracks)
    typical = latest[(len(latest) - 1) // 2]
    return [_Times(ttfb_s=track.ttfb.value_at(now, typical)) for track in tracks]
