"""A thread that sees when the loop is held up, and by what."""

import logging
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

log = logging.getLogger(__name__)

STALL_S = 0.5  # five ticks of the watchdog that did not come: everybody has waited for so long
_LOOK_S = 0.1
_MAX_FRAMES = 20  # the innermost ones


class StallWatch:
    """The loop gives a sign of life with every tick; while there is none, this tells where its thread is.

    Names of functions and lines of files only: values of variables, which may be prompts or keys, are never looked at.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._alive_at = now()
        self._told_of = -1.0  # the sign of life after which a stall was told
        self._loop_thread = 0  # its identifier, from the start on
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._run, name="stall-watch", daemon=True)
        self.stalls = 0  # so far

    def start(self) -> None:
        """Watch the thread that calls."""
        self._loop_thread, self._alive_at = threading.get_ident(), self._now()
        self._watcher.start()

    def stop(self) -> None:
        if self._watcher.is_alive():
            self._over.set()
            self._watcher.join()

    def check(self, now: float) -> None:
        """Watchdog: the loop is alive."""
        self._alive_at = self._now()

    def look(self) -> None:
        """Tell a stall, once."""
        alive_at = self._alive_at
        held_s = self._now() - alive_at
        if held_s >= STALL_S and alive_at != self._told_of:
            self._told_of = alive_at
            self.stalls += 1
            self._tell(held_s)

    def _run(self) -> None:
        while not self._over.wait(_LOOK_S):
            self.look()

    def _tell(self, held_s: float) -> None:
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001  # the only way to see another thread
        fields = {"held_ms": round(held_s * 1000), "stack": stack_of(frame)}
        log.warning("the loop is held up: nothing is served meanwhile", extra={"fields": fields})


def stack_of(frame: FrameType | None) -> list[str]:
    """`file:line function`, the innermost one last."""
    found: list[str] = []
    while frame is not None and len(found) < _MAX_FRAMES:
        code = frame.f_code
        found.append(f"{code.co_filename}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return found[::-1]
