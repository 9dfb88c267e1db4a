"""How often a target's answers to requests with tools can be used by nobody, and when it is flagged for it (pure)."""

from collections.abc import Sequence
from statistics import median_low

from pointsman.signals.beta import cdf
from pointsman.signals.ratios import Ratio
from pointsman.signals.two_tracks import Sums

_SIX_HOURS_S = 21_600.0
# a model does not get worse within minutes, and few requests have tools: both tracks remember for long
BROKEN = Ratio(_SIX_HOURS_S, 30.0, _SIX_HOURS_S, 30.0)

_MIN_JUDGED = 20.0  # answers
_MIN_PEERS = 3  # the median of fewer is chance
_FLOOR, _TIMES_PEERS = 0.2, 4.0  # one answer in five is broken, however bad the others are
_DOUBT = 0.1  # that the true ratio is not above the limit
_CLEARED_AT = 0.5  # of the limit: a flag does not flicker


def is_flagged(sums: Sequence[Sums], index: int, *, was_flagged: bool) -> bool:
    """Whether one target of a group is flagged now; `sums`: of all of them."""
    own = sums[index]
    if own.slow_weight < _MIN_JUDGED:
        return was_flagged
    limit = _FLOOR
    if len(sums) > _MIN_PEERS:
        means = BROKEN.means(sums)
        limit = max(limit, _TIMES_PEERS * median_low([*means[:index], *means[index + 1 :]]))
    if was_flagged:
        limit *= _CLEARED_AT
    if limit >= 1.0:
        return False
    bad = own.slow_sum + BROKEN.slow_mass * BROKEN.typical(sums)[index]
    return cdf(limit, bad, own.slow_weight + BROKEN.slow_mass - bad) < _DOUBT
