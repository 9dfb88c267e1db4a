import asyncio
import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pointsman.http1.limits import Watchdog
from pointsman.http1.memory import Memory
from pointsman.http1.overload import MemoryStep, Overload
from pointsman.http1.pressure import Pressure
from pointsman.http1.server import EdgeServer
from tests.unit.http1.edge import LIMITS, Door, Run, echo, until

MIB = 1 << 20
LIMIT_S = 0.05


class Told:
    """Memory of which as much is used as a test says: in a file like the one of the system."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.use(0)
        self.memory = Memory(str(file))

    def use(self, size_bytes: int) -> None:
        self._file.write_text(f"0 {size_bytes // os.sysconf('SC_PAGE_SIZE')} 0 0 0 0 0\n", encoding="ascii")


class Desk:
    """Everything that `Pressure` looks at, and what it has noted."""

    def __init__(self, folder: Path) -> None:
        loop = asyncio.get_running_loop()
        self.watchdog, self.told, self.waits_s = Watchdog(loop, 0.01), Told(folder / "statm"), list[float]()
        self.overload = Overload(LIMIT_S, 100 * MIB)
        self.edge = EdgeServer(Door(echo), LIMITS, self.watchdog)
        pressure = Pressure(loop, self.overload, self.told.memory, self.edge, self.watchdog, self.waits_s.append)
        self.watchdog.watch(pressure)

    async def looks(self, count: int = 2) -> None:
        """So many looks later."""
        wanted = len(self.waits_s) + count
        await until(lambda: len(self.waits_s) >= wanted)


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory() as folder:
        made = Desk(Path(folder))
        made.watchdog.start()
        yield made
        made.watchdog.stop()
        made.told.memory.close()


def fields(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    return [(record.levelname, record.__dict__["fields"]) for record in caplog.records]


def block(loop: asyncio.AbstractEventLoop, duration_s: float, times: int) -> None:
    """Hold up turn after turn."""
    end = time.monotonic() + duration_s
    while time.monotonic() < end:
        pass
    if times > 1:
        loop.call_soon(block, loop, duration_s, times - 1)


@pytest.mark.case("T73")
def test_loop_that_is_held_up_shows_as_a_wait_and_an_idle_one_does_not(run: Run) -> None:
    async def scenario() -> tuple[float, float]:
        async with desk() as made:
            await made.looks(5)
            idle_s = min(made.waits_s)
            block(asyncio.get_running_loop(), 0.3, 1)
            await made.looks(3)
            return idle_s, max(made.waits_s)

    idle_s, held_s = run(scenario())

    assert idle_s < LIMIT_S
    assert held_s > 0.2


@pytest.mark.case("T73")
def test_overload_is_told_once_when_it_begins_and_once_when_it_ends(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with desk() as made:
            block(asyncio.get_running_loop(), 0.15, 8)
            await until(lambda: made.overload.queue.is_shedding)
            made.overload.queue.limit_s = 60.0  # no queue is so long, and calm is over at once
            made.overload.queue.ratio, made.overload.queue._late_at = 1.0, 0.0
            await until(lambda: not made.overload.queue.is_shedding)
            await made.looks()

    with caplog.at_level(logging.INFO):
        run(scenario())

    (begun, ended) = fields(caplog)
    assert (begun[0], ended[0]) == ("WARNING", "INFO")
    assert begun[1]["waited_ms"] > begun[1]["limit_ms"] == 50


@pytest.mark.case("T72")
def test_each_step_of_memory_is_told_once_and_closes_the_door_at_the_last(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> list[bool]:
        closed = []
        async with desk() as made:
            for used in (50, 86, 93, 96, 96, 70):
                made.told.use(used * MIB)
                await made.looks()
                closed.append(made.edge.is_closed_to_new)
            assert made.overload.memory.step is MemoryStep.PLENTY
        return closed

    with caplog.at_level(logging.INFO):
        closed = run(scenario())

    assert closed == [False, False, False, True, True, False]
    assert [(level, told["step"]) for level, told in fields(caplog)] == [
        ("WARNING", 1), ("WARNING", 2), ("WARNING", 3), ("INFO", 0),
    ]  # fmt: skip
    assert fields(caplog)[0][1]["used_mib"] == 86
