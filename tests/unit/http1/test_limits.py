import asyncio

from pointsman.http1.limits import Watchdog
from tests.unit.http1.edge import Run, until


class Noted:
    def __init__(self) -> None:
        self.checks: list[float] = []

    def check(self, now: float) -> None:
        self.checks.append(now)


class Leaving(Noted):
    """Unwatches itself when it is checked."""

    def __init__(self, watchdog: Watchdog) -> None:
        super().__init__()
        self._watchdog = watchdog

    def check(self, now: float) -> None:
        super().check(now)
        self._watchdog.unwatch(self)


def test_everything_watched_is_checked_tick_by_tick(run: Run) -> None:
    async def scenario() -> tuple[list[float], list[float]]:
        watchdog = Watchdog(asyncio.get_running_loop(), 0.001)
        first, second = Noted(), Noted()
        watchdog.watch(first)
        watchdog.watch(second)
        watchdog.start()
        await until(lambda: len(first.checks) > 2)
        watchdog.stop()
        return first.checks, second.checks

    first, second = run(scenario())

    assert first == second == sorted(first)


def test_what_leaves_while_it_is_checked_is_checked_no_more(run: Run) -> None:
    async def scenario() -> tuple[int, int, int]:
        watchdog = Watchdog(asyncio.get_running_loop(), 0.001)
        leaving, staying = Leaving(watchdog), Noted()
        watchdog.watch(leaving)
        watchdog.watch(staying)
        watchdog.start()
        await until(lambda: len(staying.checks) > 2)
        watchdog.stop()
        return len(leaving.checks), len(staying.checks), len(watchdog)

    left, stayed, watched = run(scenario())

    assert (left, stayed > 2, watched) == (1, True, 1)


def test_a_stopped_watchdog_checks_nothing(run: Run) -> None:
    async def scenario() -> list[float]:
        watchdog = Watchdog(asyncio.get_running_loop(), 0.001)
        noted = Noted()
        watchdog.watch(noted)
        watchdog.start()
        watchdog.stop()
        watchdog.stop()
        await asyncio.sleep(0.01)
        return noted.checks

    assert run(scenario()) == []


def test_an_item_is_watched_once(run: Run) -> None:
    async def scenario() -> int:
        watchdog = Watchdog(asyncio.get_running_loop())
        noted = Noted()
        watchdog.watch(noted)
        watchdog.watch(noted)
        watchdog.unwatch(noted)
        watchdog.unwatch(noted)
        return len(watchdog)

    assert run(scenario()) == 0
