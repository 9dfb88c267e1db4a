"""Contests made by hand, and what came of them."""

from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.view import Measured
from pointsman.routing.scorers import SCORERS, Contest, Verdict
from pointsman.testing import builders


def verdict(
    strategy: str,
    measured: Sequence[Measured],
    *,
    weights: Sequence[float] | None = None,
    stream: bool = True,
    served: int = 1_000,
    costs_usd: Sequence[float | None] = (),
    home: int | None = None,
    cached_ratios: Sequence[float] = (),
    **policy: object,
) -> Verdict:
    """Of one strategy about these targets; `policy` are the fields of its part of the routing policy."""
    usual = builders.policy(strategy)
    part = {strategy: structs.replace(getattr(usual, strategy), **policy)} if policy else {}
    sampled = sum(seen.samples > 0 for seen in measured)
    return SCORERS[strategy](
        Contest(
            builders.policy(strategy, **part),
            tuple(weights or [1.0] * len(measured)),
            tuple(measured),
            tuple(costs_usd) or (None,) * len(measured),
            stream,
            served,
            sampled,
            home,
            tuple(cached_ratios),
        )
    )
