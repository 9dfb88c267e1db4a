"""Step 6: one file per way to compare candidates by what was measured of them. May import `domain` only."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pointsman.routing.scorers import blend, dynamic_score, in_order, least_busy, market, p2c, told
from pointsman.routing.scorers.contest import SCORE, Contest, Opinion, Verdict

Scorer = Callable[[Contest], Verdict]

SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        "blend": blend.verdict,
        "dynamic_score": dynamic_score.verdict,
        "latency": in_order.by_latency,
        "least_busy": least_busy.verdict,
        "market": market.verdict,
        "p2c": p2c.verdict,
        "throughput": in_order.by_throughput,
        "told": told.verdict,
    }
)

__all__ = ["SCORE", "SCORERS", "Contest", "Opinion", "Scorer", "Verdict"]
