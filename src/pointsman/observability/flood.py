"""Faults that repeat themselves are logged a few times a second; the rest is counted, never silently gone."""

import logging
import threading
from collections.abc import Callable, Hashable

MAX_LINES_PER_S = 10  # of one cause: enough to see that it goes on, too few to fill a disk
MAX_CAUSES = 1_000  # texts are fixed in the code, so only libraries could come near it
_WINDOW_S = 1.0


class FloodGate(logging.Filter):
    """Lets lines through by their cause: logger, level, text before its values are put in, and kind of exception.

    Only from WARNING on: what is less is wanted line by line. The first line of a cause that comes after some were
    left out says how many, as `left_out`.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now
        self._lock = threading.Lock()  # lines come from the threads that write and read files, too
        self._windows: dict[Hashable, _Window] = {}
        self.dropped = 0  # lines of all causes

    def filter(self, record: logging.LogRecord) -> bool:
        """Part of logging's protocol: whether the line is written."""
        if record.levelno < logging.WARNING:
            return True
        with self._lock:
            window = self._window(_cause(record))
            if window.lines == MAX_LINES_PER_S:
                window.left_out += 1
                self.dropped += 1
                return False
            window.lines += 1
            if window.left_out:
                record.fields = {**getattr(record, "fields", {}), "left_out": window.left_out}
                window.left_out = 0
        return True

    def _window(self, cause: Hashable) -> "_Window":
        """The current second of a cause."""
        now, window = self._now(), self._windows.get(cause)
        if window is None:
            if len(self._windows) == MAX_CAUSES:
                self._windows.clear()
            window = self._windows[cause] = _Window(now)
        elif now >= window.began_at + _WINDOW_S:
            window.began_at, window.lines = now, 0
        return window


class _Window:
    """What one cause has had of one second."""

    def __init__(self, began_at: float) -> None:
        self.began_at, self.lines, self.left_out = began_at, 0, 0


def _cause(record: logging.LogRecord) -> Hashable:
    return record.name, record.levelno, str(record.msg), record.exc_info[0] if record.exc_info else None
