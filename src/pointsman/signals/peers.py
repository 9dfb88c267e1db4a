"""Whether one target of a group does far worse than the others (pure)."""

from collections.abc import Sequence
from statistics import median_low

from pointsman.domain.policy import Cooldown, PeerRule
from pointsman.signals.beta import cdf
from pointsman.signals.ratios import FAILURES, RATE_LIMITS, Ratio
from pointsman.signals.tracks import Tracks
from pointsman.signals.two_tracks import NOTHING, Sums

_MIN_PEERS = 3  # the median of fewer is chance
_MIN_SAMPLES = 2.5  # three within some seconds
_DOUBT = 0.1  # that the true ratio is not above the limit


def is_outlier(tracks: Sequence[Tracks], index: int, policy: Cooldown, now: float) -> bool:
    """By its failures, or by its rate limits."""
    failed, limited = policy.failures, policy.rate_limits
    if failed is not None and _is_above(FAILURES, [t.failures.at(now) for t in tracks], index, failed):
        return True
    sums = [NOTHING if t.rate_limits is None else t.rate_limits.at(now) for t in tracks]
    return limited is not None and _is_above(RATE_LIMITS, sums, index, limited)


def _is_above(ratio: Ratio, sums: Sequence[Sums], index: int, rule: PeerRule) -> bool:
    """The 10 % quantile of the fast track is above the limit: a bound that few samples cannot pass by chance."""
    own, limit = sums[index], rule.floor
    if own.fast_weight < _MIN_SAMPLES:
        return False
    if len(sums) > _MIN_PEERS:
        means = ratio.means(sums)
        limit = max(limit, rule.times_peers * median_low([*means[:index], *means[index + 1 :]]))
    typical = ratio.typical(sums)[index]
    bad = own.fast_sum + ratio.fast_mass * typical
    return cdf(limit, bad, own.fast_weight + ratio.fast_mass - bad) < _DOUBT
