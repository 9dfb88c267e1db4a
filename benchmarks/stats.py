"""Medians, spreads and ratios of a handful of rounds."""

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct


class Spread(Struct, frozen=True):
    """The middle of some values and how far they reach."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value."""
    return Spread(statistics.median(values), min(values), max(values))


def percentile(ordered: Sequence[int], fraction: float) -> int:
    """The value that `fraction` of the sorted samples do not exceed (nearest rank)."""
    return ordered[max(math.ceil(len(ordered) * fraction), 1) - 1]


def ratios(baseline: Sequence[float], subject: Sequence[float]) -> list[float]:
    """Round by round, since only neighbours saw the same machine."""
    return [ours / theirs for theirs, ours in zip(baseline, subject, strict=True)]
