"""A share of the processor for one process, where this environment lets a test make a control group."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_ROOT = Path("/sys/fs/cgroup/cpu")
_PERIOD_US = 100_000  # the kernel's own, and that of Kubernetes


@contextmanager
def processor_share(pid: int, share: float) -> Iterator[None]:
    """`share` of one processor for a process and its threads; skips the test where that cannot be had."""
    group = _own_group() / f"pointsman-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no control group of the processor can be made here")
    try:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(share * _PERIOD_US)))
        for thread in Path("/proc", str(pid), "task").iterdir():
            (group / "tasks").write_text(thread.name)
        yield
    finally:
        for thread in (group / "tasks").read_text().split():
            (group.parent / "tasks").write_text(thread)
        group.rmdir()


def _own_group() -> Path:
    """The group this test runs in: a share of that, never more."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return _ROOT / path.lstrip("/")
    return _ROOT
