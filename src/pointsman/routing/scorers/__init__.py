"""Step 6: one file per way to compare candidates by what was measured of them. May import `domain` only."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pointsman.routing.scorers import blend, least_busy, market, p2c, told
from pointsman.routing.scorers.contest import SCORE, Contest, Opinion, Verdict

Scorer = Callable[[Contest], Verdict]

SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        "blend": blend.verdict,
        "least_busy": least_busy.verdict,
        "market": market.verdict,
        "p2c": p2c.verdict,
        "told": told.verdict,
    }
)

__all__ = ["SCORE", "SCORERS", "Contest", "Opinion", "Scorer", "Verdict"]
