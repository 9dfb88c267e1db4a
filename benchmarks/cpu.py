"""CPU time of a process tree, pinning to cores, and the speed of the machine at this moment."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

_CALIBRATION_STEPS = 200_000  # about 15 ms: long enough to see a busy sibling, short enough for every round


class Cores(Struct, frozen=True):
    """Where the process under test runs, and where the mock and the load run; equal on a machine with one core."""

    subject: int
    load: int


def available_cores() -> Cores:
    """The first and the last core that this process may use."""
    cores = sorted(os.sched_getaffinity(0))
    return Cores(subject=cores[0], load=cores[-1])


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Runs the block on one core. Processes started inside stay there, with all threads they will ever have."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def process_tree(pid: int) -> list[int]:
    """The process and all its living descendants, parents first."""
    pids = [pid]
    for parent in pids:  # grows while it is walked
        for task in Path(f"/proc/{parent}/task").iterdir():
            pids.extend(int(child) for child in (task / "children").read_text().split())
    return pids


def process_cpu_ns(pid: int) -> int:
    """User and system time of all threads of one process, also of those that have ended, in nanoseconds.

    `/proc/PID/stat` counts in ticks of 10 ms, too coarse for short rounds. The kernel's CPU clock of a process is
    exact; its id is what clock_getcpuclockid(3) computes: the inverted pid, shifted, with the scheduler's clock (2).
    """
    return time.clock_gettime_ns((~pid << 3) | 2)


def tree_cpu_ns(pid: int) -> dict[int, int]:
    """CPU time by process of a tree."""
    return {member: process_cpu_ns(member) for member in process_tree(pid)}


def calibration_ms() -> float:
    """CPU time of a fixed piece of work: what one core is worth right now. Smaller is faster."""
    begin_ns = time.thread_time_ns()
    total = 0
    for step in range(_CALIBRATION_STEPS):
        total += step & 7
    return (time.thread_time_ns() - begin_ns) / 1e6
