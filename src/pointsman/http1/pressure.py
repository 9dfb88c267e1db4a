"""Looks after how the process is doing, and says so when it has too much to do."""

import asyncio
import logging
import time
from collections.abc import Callable

from pointsman.http1.limits import Watchdog
from pointsman.http1.memory import Memory, give_back
from pointsman.http1.overload import MemoryStep, Overload
from pointsman.http1.server import EdgeServer

log = logging.getLogger(__name__)

_MIB = 1 << 20
_GIVE_BACK_EVERY_S = 2.0  # it takes some milliseconds, and what is free only fills up again

_GIVEN_UP = {
    MemoryStep.PLENTY: "everything is served again",
    MemoryStep.NO_BODIES: "requests whose body has not come yet are refused",
    MemoryStep.NO_REQUESTS: "requests are refused",
    MemoryStep.NO_CONNECTIONS: "requests and connections are refused",
}


class Pressure:
    """Measures once per tick of the watchdog; `overload` says what follows from it.

    What is ready waits for the loop to come round: for one turn of it, which is measured from a tick on. A turn that
    began before shows as a tick that is late.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, overload: Overload, memory: Memory, edge: EdgeServer, watchdog: Watchdog,
        noted: Callable[[float], None],
    ) -> None:  # fmt: skip
        """`noted` gets every measured wait, in seconds."""
        self._loop, self._overload, self._memory, self._edge, self._watchdog = loop, overload, memory, edge, watchdog
        self._noted = noted
        self._give_back_at = self._turn_began_at = 0.0

    def check(self, now: float) -> None:
        """Watchdog: a turn begins and ends when the loop calls what it was given just before."""
        self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._turn_began_at = time.monotonic()
        self._loop.call_soon(self._end)

    def _end(self) -> None:
        now = time.monotonic()
        self._look(max(self._watchdog.late_s, now - self._turn_began_at), now)

    def _look(self, waited_s: float, now: float) -> None:
        overload, used_bytes = self._overload, self._memory.used_bytes()
        was_shedding, step_before = overload.queue.is_shedding, overload.memory.step
        self._noted(waited_s)
        overload.observe(waited_s, used_bytes, now)
        if overload.queue.is_shedding is not was_shedding:
            self._say_queue(waited_s)
        if overload.memory.step is not step_before:
            self._edge.is_closed_to_new = overload.memory.step is MemoryStep.NO_CONNECTIONS
            self._say_memory(used_bytes)
        if overload.memory.step is not MemoryStep.PLENTY and now >= self._give_back_at:
            self._give_back_at = now + _GIVE_BACK_EVERY_S
            give_back()

    def _say_queue(self, waited_s: float) -> None:
        queue, shed = self._overload.queue, dict(self._overload.shed)
        fields = {"waited_ms": round(waited_s * 1000), "limit_ms": round(queue.limit_s * 1000), "shed": shed}
        if queue.is_shedding:
            log.warning("overloaded: requests wait too long for their turn, some are refused", extra={"fields": fields})
        else:
            log.info("no longer overloaded: all requests are admitted again", extra={"fields": fields})

    def _say_memory(self, used_bytes: int) -> None:
        memory = self._overload.memory
        level = logging.INFO if memory.step is MemoryStep.PLENTY else logging.WARNING
        fields = {
            "used_mib": used_bytes // _MIB, "limit_mib": (memory.limit_bytes or 0) // _MIB, "step": int(memory.step),
            "shed": dict(self._overload.shed),
        }  # fmt: skip
        log.log(level, "memory: %s", _GIVEN_UP[memory.step], extra={"fields": fields})
