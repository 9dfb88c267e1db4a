"""Which share of a target's attempts fails, as the mean of a Beta distribution that forgets (pure)."""

from collections.abc import Sequence

from pointsman.signals.two_tracks import Sums, TwoTracks

FLOOR = 0.002  # nobody never fails
_SLOW_MASS = 10.0  # attempts of a typical peer
_FAST_MASS = 5.0


def new_failures() -> TwoTracks:
    """To be fed with 1.0 for each failure and 0.0 for each success."""
    return TwoTracks(slow_half_life_s=300.0, fast_half_life_s=20.0)


def failure_ratios(sums: Sequence[Sums]) -> list[float]:
    """Each target starts out, and ends up in silence, as the median of the others; without any, at the floor."""
    alone = [each.slow(FLOOR, _SLOW_MASS) for each in sums]
    if len(sums) == 1:
        return [_ratio(sums[0], FLOOR)]
    order = sorted(alone)
    middle = (len(order) - 2) // 2  # of the others: the lower one of two
    lower, upper = order[middle], order[middle + 1]
    return [_ratio(each, max(upper if own <= lower else lower, FLOOR)) for each, own in zip(sums, alone, strict=True)]


def _ratio(sums: Sums, typical: float) -> float:
    """The larger of both tracks: an outage of seconds counts beside minutes of success."""
    return max(sums.slow(typical, _SLOW_MASS), sums.fast(typical, _FAST_MASS))
