"""Numbers of candidates beside the best one's: 1.0 for the best; None: not known.

Not places between best and worst: a gap of a millisecond must never look like a minute (P-4).
"""

from collections.abc import Sequence

from pointsman.domain.view import Measured

NEUTRAL = 0.5  # of what is not known: neither instant nor hopeless


def to_least(values: Sequence[float | None]) -> list[float | None]:
    """Proportionally less for what is more; beside 0 all else is 0."""
    best = min([value for value in values if value is not None], default=0.0)
    return [None if value is None else best / value if value else 1.0 for value in values]


def to_most(values: Sequence[float | None]) -> list[float | None]:
    """Proportionally less for what is less."""
    best = max([value for value in values if value is not None], default=0.0)
    return [None if value is None else value / best if best else 1.0 for value in values]


def neutral(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple([NEUTRAL if value is None else value for value in values])


def load_scores(measured: Sequence[Measured]) -> tuple[float, ...]:
    """1.0 for who is idle, less for who has more in flight."""
    most = max([seen.in_flight for seen in measured])
    return tuple([1.0 - seen.in_flight / (most + 1) for seen in measured])


def weight_scores(weights: Sequence[float]) -> tuple[float, ...]:
    heaviest = max(weights)
    return tuple([weight / heaviest for weight in weights])
