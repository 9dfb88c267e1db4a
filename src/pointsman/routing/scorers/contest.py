"""What a scorer is given, and what it says."""

from collections.abc import Mapping

from pointsman.domain.ask import Ask
from pointsman.domain.decision import NO_EFFECTS, DecisionMode, Effects, Estimate, Exclusion, ScoreNote
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.policy import RoutingPolicy
from pointsman.domain.target import ModelGroup
from pointsman.domain.value import Leaf
from pointsman.domain.view import GroupView, Measured

Opinion = tuple[float, ...] | FallbackReason  # scores from 0 up, as somebody outside says; or why there are none

SCORE = "score"  # the term that says how good a target is as a whole


class Contest(Leaf):
    """The candidates of one decision; all tuples are in their order."""

    group: ModelGroup
    view: GroupView  # of all its members
    candidates: tuple[int, ...]  # indexes of members
    weights: tuple[float, ...]  # all above 0
    measured: tuple[Measured, ...]
    estimates: tuple[Estimate, ...]  # of this request; empty: the strategy compares no prices
    stream: bool  # what is asked for
    ask: Ask | None = None  # None: nobody asks, and how the targets compare is all that is wanted
    is_first: bool = False  # nobody has been tried yet
    home: int | None = None  # the candidate that answered the request's session last; None: nobody, or none of them
    opinion: Opinion | None = None  # None: the strategy asks nobody
    dropped: tuple[Exclusion, ...] = ()  # rules of the policy that would have left nobody

    @property
    def policy(self) -> RoutingPolicy:
        return self.group.policy

    @property
    def costs_usd(self) -> tuple[float | None, ...]:
        """What each candidate would charge; None: not known."""
        return tuple([estimate.cost_usd for estimate in self.estimates])

    @property
    def cached_ratios(self) -> tuple[float, ...]:
        """The part of the prompt that each candidate should have in its cache."""
        return tuple([estimate.cached_ratio for estimate in self.estimates])

    @property
    def served(self) -> int:
        """Requests the group has answered."""
        return self.view.served

    @property
    def sampled_targets(self) -> int:
        """Members, candidates or not, whose latency is known."""
        return sum([seen.samples > 0 for seen in self.view.measured])


class Verdict(Leaf):
    """What the picker goes by."""

    weights: tuple[float, ...]  # to draw in proportion to
    modes: tuple[DecisionMode, ...]  # of each candidate, should it be drawn
    terms: Mapping[str, tuple[float | None, ...]]  # what the weights are made of, for people
    loads: tuple[float, ...] = ()  # of two drawn candidates the lower one wins
    fallback: FallbackReason | None = None
    shares: tuple[float, ...] | None = None  # long-run fractions of traffic; None: as the picker says
    effects: Effects = NO_EFFECTS
    prices_usd: tuple[float | None, ...] = ()  # by which a session stays, None: it may not; empty: what is charged
    note: ScoreNote | None = None  # what else the strategy went by


def by_weight(contest: Contest, reason: FallbackReason) -> Verdict:
    """The scores do not decide: shares by weight."""
    count = len(contest.weights)
    return Verdict(contest.weights, (DecisionMode.FALLBACK,) * count, {}, loads=(0.0,) * count, fallback=reason)
