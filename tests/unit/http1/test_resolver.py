"""A resolver in front of a name server that answers as told, on a clock that the tests move."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pointsman.domain.target import Origin
from pointsman.http1.client import WireFault
from pointsman.http1.limits import UpstreamLimits, Watchdog
from pointsman.http1.pool import ConnectError, ConnectionPool
from pointsman.http1.resolver import FRESH_S, MAX_NAMES, RETRY_S, STALE_S, Resolver, allowed
from pointsman.testing import FakeProvider
from tests.unit.http1.edge import Run, until

HOST = "engine.example"
PATIENCE_S = 2.0
SOON_S = 0.02


class NameServer:
    """Gives `answer` to every question, once `is_up` is set."""

    def __init__(self, *answer: str, fault: OSError | UnicodeError | None = None) -> None:
        self.answer, self.fault = answer, fault
        self.is_up = asyncio.Event()
        self.is_up.set()
        self.asked: list[str] = []

    async def __call__(self, host: str, port: None, *, type: int) -> Sequence[Any]:  # noqa: A002
        self.asked.append(host)
        await self.is_up.wait()
        if self.fault is not None:
            raise self.fault
        return [(socket.AF_INET, type, 6, "", (address, 0)) for address in self.answer]


class Later:
    """The loop, with its clock set forward."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self.ahead_s = loop, 0.0

    def time(self) -> float:
        return self._loop.time() + self.ahead_s

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


class Scene:
    """A resolver, its name server and its clock."""

    def __init__(self, *answer: str) -> None:
        self.server = NameServer(*answer)
        self.loop: Any = Later(asyncio.get_running_loop())
        self.resolver = Resolver(self.loop, self.server)

    async def addresses(self, within_s: float = PATIENCE_S, host: str = HOST) -> list[str]:
        return list(map(str, await self.resolver.addresses(host, within_s)))


def play(run: Run, story: Callable[[Scene], Any], *answer: str) -> Any:
    async def scenario() -> Any:
        tasks = asyncio.all_tasks()
        scene = Scene(*(answer or ("10.0.0.1",)))
        told = await story(scene)
        scene.resolver.close()
        await until(lambda: asyncio.all_tasks() == tasks)
        return told

    return run(scenario())


def test_addresses_come_in_the_order_of_the_answer_each_once(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        return await scene.addresses()

    assert play(run, story, "::1", "10.0.0.1", "::1") == ["::1", "10.0.0.1"]


@pytest.mark.parametrize("host", ["10.1.2.3", "::1"])
def test_an_address_is_not_looked_up(run: Run, host: str) -> None:
    async def story(scene: Scene) -> tuple[list[str], int]:
        return await scene.addresses(host=host), len(scene.server.asked)

    assert play(run, story) == ([host], 0)


@pytest.mark.case("T04")
@pytest.mark.parametrize(
    "fault", [socket.gaierror(-2), socket.gaierror(-3), UnicodeError()], ids=["NXDOMAIN", "SERVFAIL", "label"]
)
def test_a_name_without_an_answer_has_no_addresses(run: Run, fault: OSError | UnicodeError) -> None:
    async def story(scene: Scene) -> list[str]:
        scene.server.fault = fault
        return await scene.addresses()

    assert play(run, story) == []


@pytest.mark.case("T04")
def test_a_name_is_asked_for_again_when_its_answer_is_no_longer_fresh(run: Run) -> None:
    async def story(scene: Scene) -> tuple[list[str], list[str], list[str]]:
        first = await scene.addresses()
        scene.server.answer = ("10.0.0.2",)
        scene.loop.ahead_s = FRESH_S - 1
        second = await scene.addresses()
        scene.loop.ahead_s = FRESH_S + 1
        return first, second, await scene.addresses()

    assert play(run, story) == (["10.0.0.1"], ["10.0.0.1"], ["10.0.0.2"])


@pytest.mark.case("T04")
def test_a_name_whose_addresses_took_no_connection_is_asked_for_again(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        await scene.addresses()
        scene.server.answer = ("10.0.0.2",)
        scene.resolver.distrust(HOST)
        scene.resolver.distrust("unheard.example")
        return await scene.addresses()

    assert play(run, story) == ["10.0.0.2"]


@pytest.mark.case("T04")
@pytest.mark.parametrize("hangs", [False, True], ids=["fails", "hangs"])
def test_an_old_answer_is_used_while_the_name_server_is_down(run: Run, *, hangs: bool) -> None:
    async def story(scene: Scene) -> tuple[list[str], list[str], int]:
        await scene.addresses()
        scene.server.fault = socket.gaierror(-3)
        if hangs:
            scene.server.is_up.clear()
        scene.loop.ahead_s = STALE_S - 1
        stale = await scene.addresses(SOON_S)
        asked = len(scene.server.asked)
        again = await scene.addresses(SOON_S)
        return stale, again, len(scene.server.asked) - asked

    assert play(run, story) == (["10.0.0.1"], ["10.0.0.1"], 0)


@pytest.mark.case("T04")
def test_a_name_server_that_is_back_is_believed(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        await scene.addresses()
        scene.server.fault = socket.gaierror(-3)
        scene.loop.ahead_s = FRESH_S + 1
        await scene.addresses()
        scene.server.fault, scene.server.answer = None, ("10.0.0.2",)
        scene.loop.ahead_s += RETRY_S + 1
        return await scene.addresses()

    assert play(run, story) == ["10.0.0.2"]


@pytest.mark.case("T04")
def test_an_answer_that_is_too_old_is_none(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        await scene.addresses()
        scene.server.fault = socket.gaierror(-3)
        scene.loop.ahead_s = STALE_S + 1
        return await scene.addresses()

    assert play(run, story) == []


@pytest.mark.case("T04")
def test_a_hanging_name_server_is_asked_once_and_holds_nobody_longer_than_he_waits(run: Run) -> None:
    async def story(scene: Scene) -> tuple[list[list[str]], int]:
        scene.server.is_up.clear()
        found = await asyncio.gather(*[scene.addresses(SOON_S) for _ in range(50)])
        return found, len(scene.server.asked)

    assert play(run, story) == ([[]] * 50, 1)


def test_who_leaves_does_not_take_the_answer_from_others(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        scene.server.is_up.clear()
        leaver = asyncio.create_task(scene.addresses())
        stayer = asyncio.create_task(scene.addresses())
        await until(lambda: bool(scene.server.asked))
        leaver.cancel()
        await asyncio.wait((leaver,))
        scene.server.is_up.set()
        return await stayer

    assert play(run, story) == ["10.0.0.1"]


@pytest.mark.case("I26")
def test_names_that_are_remembered_are_bounded(run: Run) -> None:
    async def story(scene: Scene) -> tuple[int, bool]:
        for number in range(MAX_NAMES + 5):
            await scene.addresses(host=f"host-{number}.example")
        return len(scene.resolver._known), "host-0.example" in scene.resolver._known

    assert play(run, story) == (MAX_NAMES, False)


def test_a_zone_is_no_part_of_an_address(run: Run) -> None:
    async def story(scene: Scene) -> list[str]:
        return list(map(str, allowed(await scene.resolver.addresses(HOST, PATIENCE_S))))

    assert play(run, story, "fe80::1%eth0", "10.0.0.1") == ["10.0.0.1"]


# --- with a pool


async def connect(provider: FakeProvider, *answer: str, timeout_s: float = PATIENCE_S) -> WireFault | None:
    """What comes of a connection to a name that resolves to these addresses."""
    loop = asyncio.get_running_loop()
    port = int(provider.base_url.rpartition(":")[2].removesuffix("/v1"))
    server = NameServer(*answer)
    pool = ConnectionPool(loop, UpstreamLimits(), Watchdog(loop), Resolver(loop, server))
    try:
        connection = await pool.connect(Origin("http", HOST, port), timeout_s)
    except ConnectError as error:
        return error.failure.fault
    connection.abort()
    return None


@pytest.mark.bug("N-02")
@pytest.mark.case("T97")
@pytest.mark.parametrize("denied", ["169.254.169.254", "0.0.0.0", "::ffff:169.254.169.254", "fe80::1%eth0", "::"])  # noqa: S104
def test_a_name_that_leads_to_a_denied_address_is_not_connected_to(run: Run, denied: str) -> None:
    async def scenario() -> tuple[WireFault | None, int]:
        async with FakeProvider() as provider:
            return await connect(provider, denied), provider.connections_accepted

    assert run(scenario()) == (WireFault.DENIED, 0)


@pytest.mark.case("T04")
def test_the_next_address_is_tried_when_one_takes_no_connection(run: Run) -> None:
    async def scenario() -> WireFault | None:
        async with FakeProvider() as provider:
            return await connect(provider, "169.254.169.254", "127.0.0.2", "127.0.0.1")

    assert run(scenario()) is None


@pytest.mark.case("T04")
def test_a_silent_address_leaves_time_for_the_next_one(run: Run) -> None:
    async def scenario() -> WireFault | None:
        async with FakeProvider() as provider:
            port = int(provider.base_url.rpartition(":")[2].removesuffix("/v1"))
            with socket.socket() as full, socket.socket() as first, socket.socket() as second:
                full.bind(("127.0.0.2", port))
                full.listen(0)
                for waiting in (first, second):
                    waiting.setblocking(False)
                    waiting.connect_ex(full.getsockname())
                return await connect(provider, "127.0.0.2", "127.0.0.1", timeout_s=0.4)

    assert run(scenario()) is None
