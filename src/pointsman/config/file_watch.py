"""Notices that a file has other content."""

import hashlib
import stat
from pathlib import Path

from pointsman.config.load import MAX_FILE_BYTES


class FileWatch:
    """Notices new content, whatever puts it there: an editor, a `mv`, a symbolic link that leads elsewhere.

    Its methods wait for the disk: they are for a thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = _mark(path)
        self._has_moved = False  # since the content was last looked at
        self.note()

    def note(self) -> None:
        """The content of this moment is known from now on."""
        self._known = _digest(self._path)

    def has_changed(self) -> bool:
        """Whether there is content that is not known, and that was left alone since the last look."""
        mark = _mark(self._path)
        if mark != self._mark:  # perhaps it is still being written
            self._mark, self._has_moved = mark, True
            return False
        if not self._has_moved:
            return False
        self._has_moved = False
        return _digest(self._path) != self._known


def _mark(path: Path) -> tuple[int, ...] | None:
    """Changes with the file's content and with where the path leads; None: there is no file to watch."""
    try:
        found = path.stat()
    except OSError:
        return None
    is_file = stat.S_ISREG(found.st_mode)  # a pipe gives its content once, and then waits for more
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if is_file else None


def _digest(path: Path) -> bytes | None:
    if _mark(path) is None:
        return None
    try:
        with path.open("rb") as file:
            return hashlib.blake2b(file.read(MAX_FILE_BYTES + 1)).digest()
    except OSError:
        return None
