"""Counts and distributions as plain numbers, made into Prometheus families when scraped.

An increment of prometheus_client takes a lock and three calls; a request makes ten of them. Here it is one addition.
All writers are on the event loop, and a scrape reads between two of its turns.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

Labels = tuple[str, ...]


class CounterTally(Collector):
    """A counter per label set. `values[labels] += n` is the whole interface."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self._name, self._text, self._labels = name, text, labels
        self.values: defaultdict[Labels, float] = defaultdict(float)

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in self.values.items():
            family.add_metric(labels, value)
        yield family


class _Distribution:
    """One label set: observations per bucket, not cumulative, and their sum."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * buckets
        self.total = 0.0


class HistogramTally(Collector):
    """A histogram per label set, with fixed upper bounds."""

    def __init__(self, name: str, text: str, bounds: Sequence[float], *labels: str) -> None:
        self._name, self._text, self._labels = name, text, labels
        self._bounds = tuple(bounds)
        self._found: defaultdict[Labels, _Distribution] = defaultdict(lambda: _Distribution(len(bounds) + 1))
        if not labels:
            _ = self._found[()]  # the only series is there before anything is observed

    def observe(self, labels: Labels, value: float) -> None:
        """One more observation."""
        found = self._found[labels]
        found.counts[bisect_left(self._bounds, value)] += 1
        found.total += value

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        names = (*map(str, map(float, self._bounds)), "+Inf")
        for labels, found in self._found.items():
            buckets = list(zip(names, map(float, accumulate(found.counts)), strict=True))
            family.add_metric(labels, buckets, found.total)
        yield family
