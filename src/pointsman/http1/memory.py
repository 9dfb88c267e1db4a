"""Memory of this process: what it has, what it may have, and giving back what it does not need."""

import ctypes
import gc
import os
from collections.abc import Iterator
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_UNLIMITED = 1 << 50  # the first version of control groups writes a number near 2^63 for "none"
_FILES = {"memory": "memory.limit_in_bytes", "": "memory.max"}  # by controller: the first version, and the second


class Memory:
    """What the process uses, as cheaply as it can be had."""

    def __init__(self, statm: str = "/proc/self/statm") -> None:
        try:
            self._file = os.open(statm, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1  # another system: nothing is known

    def used_bytes(self) -> int:
        """Resident memory; 0: not known."""
        return int(os.pread(self._file, 128, 0).split()[1]) * _PAGE_BYTES if self._file >= 0 else 0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def limit_bytes(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The least limit of the control groups that this process is in; None: there is none."""
    found = [limit for file in _limit_files(groups, root) if (limit := _number(file)) is not None]
    return min(found, default=None)


def give_back() -> None:
    """Give free memory back to the system, and find what is free: it counts as used until then. Some milliseconds."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library; others give it back by themselves
    if trim is not None:
        trim(0)


def _limit_files(groups: Path, root: Path) -> Iterator[Path]:
    """Of every group from this process's own up to the root, whose names a container may not see."""
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            if controller in _FILES:
                top = root / controller
                own = top / path.lstrip("/")
                yield from (folder / _FILES[controller] for folder in (own, *own.parents) if folder.is_relative_to(top))


def _number(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and int(text) < _UNLIMITED else None
