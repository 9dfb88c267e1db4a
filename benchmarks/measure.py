"""One round: warm up, measure a window, end properly. And what a round found."""

import os
import time
from collections.abc import Mapping

from msgspec import Struct

from benchmarks.cpu import process_cpu_ns, tree_cpu_ns
from benchmarks.load import Load, LoadError
from benchmarks.processes import Child, ProcessError
from benchmarks.stats import percentile

_DEATH_GRACE_S = 0.5  # between a broken connection and the end of the process that broke it


class Window(Struct, frozen=True):
    """How long each part of a round takes, in seconds."""

    warmup_s: float
    measured_s: float


class Round(Struct, frozen=True):
    """What one round found about one process under test."""

    units: int  # requests or events
    cpu_us_per_unit: float | None  # None: nothing stood between load and mock
    sample_p50_us: float  # latency of a request, or delay of an event
    sample_p99_us: float
    load_busy_ratio: float  # share of its core that the mock and the load used


async def measure(load: Load, *, subject: Child | None, mock: Child | None, window: Window) -> Round:
    """Runs one round; without `mock` the provider is part of this process.

    Raises LoadError or ProcessError unless everything went as it should.
    """
    children = [child for child in (subject, mock) if child is not None]
    try:
        found = await _round(load, subject, mock, window)
    except LoadError:
        for child in children:  # a broken connection is the echo of a process that just died
            child.check(grace_s=_DEATH_GRACE_S)
        raise
    for child in children:
        child.check()
    return found


async def _round(load: Load, subject: Child | None, mock: Child | None, window: Window) -> Round:
    await load.start()
    await load.run(window.warmup_s)
    first = len(load.samples_ns)
    begin_ns, load_begin_ns = time.monotonic_ns(), _load_cpu_ns(mock)
    subject_begin_ns = _subject_cpu_ns(subject)
    await load.run(window.measured_s)
    cpu_ns = _delta(subject_begin_ns, _subject_cpu_ns(subject))
    load_ns, wall_ns = _load_cpu_ns(mock) - load_begin_ns, time.monotonic_ns() - begin_ns
    samples_ns = sorted(load.samples_ns[first:])
    await load.finish()
    if not samples_ns:
        raise LoadError("nothing was answered during the measured window")
    return Round(
        units=len(samples_ns),
        cpu_us_per_unit=None if subject is None else cpu_ns / 1e3 / len(samples_ns),
        sample_p50_us=percentile(samples_ns, 0.5) / 1e3,
        sample_p99_us=percentile(samples_ns, 0.99) / 1e3,
        load_busy_ratio=load_ns / wall_ns,
    )


def _load_cpu_ns(mock: Child | None) -> int:
    return process_cpu_ns(os.getpid()) + (process_cpu_ns(mock.pid) if mock is not None else 0)


def _subject_cpu_ns(subject: Child | None) -> dict[int, int]:
    try:
        return {} if subject is None else tree_cpu_ns(subject.pid)
    except OSError as error:
        raise ProcessError("a process under test went away while its CPU time was read") from error


def _delta(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    if before.keys() != after.keys():
        raise ProcessError("processes under test came or went while their CPU time was measured")
    return sum(after.values()) - sum(before.values())
