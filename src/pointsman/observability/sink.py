"""Log lines leave on a thread of their own: whoever does not take them holds up no request."""

import logging
import os
import queue
import threading
import time

MAX_WAITING = 10_000  # lines, 3 MB: some seconds of one line per request
_GATHER_S = 0.02  # a hand-over per line would make two threads fight for the interpreter
_FLUSH_S = 1.0  # at the exit; a sink that takes nothing by then never will


class Sink(logging.Handler):
    """Writes to a file descriptor. Lines that come while too many wait are lost, and counted."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file
        self._queue: queue.SimpleQueue[str | threading.Event | None] = queue.SimpleQueue()
        self.lost = 0  # lines
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Part of logging's protocol; never waits."""
        if self._queue.qsize() >= MAX_WAITING:
            self.lost += 1
        else:
            self._queue.put(self.format(record) + "\n")

    def flush(self) -> None:
        """Wait until what was logged so far is written, but not for long."""
        reached = threading.Event()
        self._queue.put(reached)
        reached.wait(_FLUSH_S)

    def close(self) -> None:
        """Write what is left, and end the thread."""
        self.flush()
        self._queue.put(None)
        super().close()

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._queue.get()]
            batch += [self._queue.get() for _ in range(self._queue.qsize())]
            self._write([item for item in batch if isinstance(item, str)])
            for item in batch:
                if isinstance(item, threading.Event):
                    item.set()
            is_open = None not in batch
            time.sleep(_GATHER_S)

    def _write(self, lines: list[str]) -> None:
        rest = memoryview("".join(lines).encode(errors="backslashreplace"))
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:  # nobody is there to be told
            self.lost += len(lines)
