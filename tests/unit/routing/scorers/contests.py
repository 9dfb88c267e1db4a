"""Contests made by hand, and what came of them."""

from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.decision import Estimate
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
    usual, ids = builders.policy(strategy), [f"{number}/m" for number in range(len(measured))]
    part = {strategy: structs.replace(getattr(usual, strategy), **policy)} if policy else {}
    group = builders.group("chat", *ids, strategy=strategy, **part)
    view = builders.group_view(*[builders.view() for _ in ids], measured=tuple(measured), served=served)
    charged, kept = tuple(costs_usd) or (None,) * len(ids), tuple(cached_ratios) or (0.0,) * len(ids)
    estimates = tuple(Estimate(1_000, 200, usd, round(ratio * 1_000)) for usd, ratio in zip(charged, kept, strict=True))
    heavy = tuple(weights or [1.0] * len(ids))
    contest = Contest(group, view, tuple(range(len(ids))), heavy, view.measured, estimates, stream, home=home)
    return SCORERS[strategy](contest)
