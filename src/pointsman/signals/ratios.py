"""Which share of a target's attempts ends badly, as the mean of a Beta distribution that forgets (pure)."""

from collections.abc import Sequence

from pointsman.domain.value import Value
from pointsman.domain.view import RARE_RATIO
from pointsman.signals.two_tracks import Sums, TwoTracks


class Ratio(Value):
    """One kind of bad end. Masses are attempts of a typical peer that everyone starts out with."""

    slow_half_life_s: float = 300.0
    slow_mass: float = 10.0
    fast_half_life_s: float = 20.0
    fast_mass: float = 5.0

    def new(self) -> TwoTracks:
        """To be fed with 1.0 for each bad end and 0.0 for each good one."""
        return TwoTracks(slow_half_life_s=self.slow_half_life_s, fast_half_life_s=self.fast_half_life_s)

    def typical(self, sums: Sequence[Sums]) -> list[float]:
        """For each target the median of the others; without any, or if they are better, the least there is."""
        alone = [each.slow(RARE_RATIO, self.slow_mass) for each in sums]
        if len(sums) == 1:
            return [RARE_RATIO]
        order = sorted(alone)
        middle = (len(order) - 2) // 2  # of the others: the lower one of two
        lower, upper = order[middle], order[middle + 1]
        return [max(upper if own <= lower else lower, RARE_RATIO) for own in alone]

    def means(self, sums: Sequence[Sums]) -> list[float]:
        """Each target starts out, and ends up in silence, as its typical peer.

        The larger of both tracks: an outage of seconds counts beside minutes of success.
        """
        return [
            max(each.slow(typical, self.slow_mass), each.fast(typical, self.fast_mass))
            for each, typical in zip(sums, self.typical(sums), strict=True)
        ]


FAILURES = Ratio()
RATE_LIMITS = Ratio(fast_half_life_s=15.0)  # shorter: a limit that is over is over
