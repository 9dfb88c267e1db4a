"""What a scorer is given, and what it says."""

from collections.abc import Mapping

from msgspec import Struct

from pointsman.domain.decision import DecisionMode, FallbackReason
from pointsman.domain.policy import RoutingPolicy
from pointsman.domain.view import Measured

SCORE = "score"  # the term that says how good a target is as a whole


class Contest(Struct, frozen=True, gc=False):
    """The candidates of one decision; all tuples are in their order."""

    policy: RoutingPolicy
    weights: tuple[float, ...]  # all above 0
    measured: tuple[Measured, ...]
    costs_usd: tuple[float | None, ...]  # of this request; None: not known; empty: the strategy compares no prices
    stream: bool  # what is asked for
    served: int  # requests the group has answered
    sampled_targets: int  # of the group, candidates or not: those whose latency is known
    home: int | None = None  # the candidate that answered the request's session last; None: nobody, or none of them
    cached_ratios: tuple[float, ...] = ()  # part of the prompt that should be cached; empty: nobody asks


class Verdict(Struct, frozen=True, gc=False):
    """What the picker goes by."""

    weights: tuple[float, ...]  # to draw in proportion to
    modes: tuple[DecisionMode, ...]  # of each candidate, should it be drawn
    terms: Mapping[str, tuple[float, ...]]  # what the weights are made of, for people
    loads: tuple[float, ...] = ()  # of two drawn candidates the lower one wins
    fallback: FallbackReason | None = None


def by_weight(contest: Contest, reason: FallbackReason) -> Verdict:
    """The scores do not decide: shares by weight."""
    count = len(contest.weights)
    return Verdict(contest.weights, (DecisionMode.FALLBACK,) * count, {}, loads=(0.0,) * count, fallback=reason)
