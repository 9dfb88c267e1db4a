"""What a picker returns."""

from pointsman.domain.value import Leaf


class Pick(Leaf):
    """The picked index, the share of each candidate, and what the picker wants to remember."""

    index: int
    shares: tuple[float, ...]  # long-run fraction of traffic; sums to 1
    propensity: float  # probability of this very pick, given what the picker knew
    turn_credits: tuple[float, ...] | None = None
