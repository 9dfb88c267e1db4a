"""A whole gateway inside a test: real sockets on both sides, and the standing oracles when it ends."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import yaml
from msgspec import Struct

from pointsman.app import App
from pointsman.config.load import load
from pointsman.testing import FakeProvider
from tests.canaries import PROVIDER_KEY, leaks

PATIENCE_S = 5.0  # after this a test fails instead of hanging
POLL_S = 0.005
FD_TOLERANCE = 2
DECISIONS_FILE = "decisions.jsonl"
SEED = 7


class At(Struct, frozen=True):
    """A provider that is an address only."""

    name: str
    base_url: str


class Gateway:
    """A running gateway, and what it leaves behind."""

    base_url: str  # where its API begins; known from the start on, also while it stops
    admin_url: str  # where metrics and probes are

    def __init__(
        self,
        app: App,
        document: Mapping[str, object],
        file: Path,
        seen_before: frozenset[asyncio.Task[Any]],
        fds_before: int,
    ) -> None:
        self.app, self._document, self.file = app, document, file
        self._seen_before, self._fds_before = seen_before, fds_before
        self._permanent_items = 0  # always watched, from the start on
        self._stopping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open both listeners."""
        await self.app.start()
        self.base_url = f"http://127.0.0.1:{self.app.port}/v1"
        self.admin_url = f"http://127.0.0.1:{self.app.admin_port}"
        self._permanent_items = len(self.app._watchdog)

    def text(self, **sections: object) -> str:
        """The configuration file with other sections."""
        return yaml.safe_dump({**self._document, **sections})

    async def reload(self, text: str | None = None, **sections: object) -> str:
        """What came of a reload with other sections, or with any text."""
        reloader = self.app._reloader
        before = reloader.last
        self.file.write_text(self.text(**sections) if text is None else text)
        self.app.reload()
        await eventually(lambda: reloader.last is not before)
        assert reloader.last is not None
        return reloader.last.result

    def metrics(self) -> str:
        """The exposition as it is now."""
        return self.app.metrics.exposition().decode()

    def samples(self, name: str) -> dict[str, float]:
        """The samples of one metric, by their labels as text."""
        full = f"pointsman_{name}"
        lines = [line for line in self.metrics().splitlines() if line.startswith((f"{full}{{", f"{full} "))]
        rows = [line.rpartition(" ") for line in lines]
        return {series.removeprefix(full): float(value) for series, _, value in rows}

    @property
    def in_flight(self) -> float:
        """Attempts on their way, as the gauge reads them."""
        return sum(value for _, value in self.app._in_flight())

    @property
    def callers(self) -> int:
        """Open connections of callers."""
        return len(self.app._edge.connections)

    @property
    def requests_in_progress(self) -> int:
        """Requests whose answer has not ended."""
        return sum(connection._reply is not None for connection in self.app._edge.connections)

    def breaker(self, target_id: str) -> float:
        """0 closed, 0.5 half-open, 1 open."""
        return self.samples("breaker_state")[f'{{target="{target_id}"}}']

    async def quiet(self) -> None:
        """Wait until nothing is going on: no attempt in flight, no caller, no deadline armed."""
        await eventually(lambda: not self._busy(), lambda: f"still busy: {self._busy()}")

    async def stop(self) -> None:
        """Wait for quiet, stop, and check that nothing is left."""
        if self._stopping is not None:
            return
        await self.quiet()
        await self.stop_now()

    async def stop_now(self) -> None:
        """Stop whatever is going on, and check that nothing is left."""
        await self.abandon()
        await eventually(lambda: not self._left_over(), lambda: f"left over: {self._left_over()}")

    async def abandon(self) -> None:
        """Stop without any check: for a test that has failed already, whose reason is the one to show."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self.app.stop())
        await asyncio.shield(self._stopping)

    async def records(self) -> list[dict[str, Any]]:
        """All decision records. Stops the gateway, so that all are written."""
        await self.stop()
        return read_records(self.file.parent)

    def _busy(self) -> dict[str, float]:
        idle = sum(map(len, self.app._pool._idle.values()))  # connections to providers, which are watched, too
        watched = len(self.app._watchdog) - self._permanent_items - idle
        found = {"in_flight": self.in_flight, "callers": self.callers, "watched": watched}
        return {name: value for name, value in found.items() if value}

    def _left_over(self) -> dict[str, object]:
        tasks = [task for task in asyncio.all_tasks() - self._seen_before if task is not asyncio.current_task()]
        fds = open_fds() - self._fds_before
        gauges = {name: sum(self.samples(name).values()) for name in ("in_flight", "connections")}
        found = {name: value for name, value in gauges.items() if value}
        return {**found, **({"tasks": tasks} if tasks else {}), **({"fds": fds} if abs(fds) > FD_TOLERANCE else {})}


@asynccontextmanager
async def run_gateway(
    folder: Path,
    *providers: FakeProvider | At,
    groups: Mapping[str, object] | None = None,
    seed: int = SEED,
    clock: Any = None,
    provider_fields: Mapping[str, Mapping[str, object]] | None = None,
    server: Mapping[str, object] | None = None,
    **sections: object,
) -> AsyncIterator[Gateway]:
    """A gateway in front of `providers`; without `groups` there is one, "chat", with all of them in order.

    Any other argument is a section of the configuration file.
    """
    path = folder / "pointsman.yaml"
    document = write_configuration(
        path, *providers, groups=groups, provider_fields=provider_fields, server=server, **sections
    )
    fds_before = open_fds()
    app = App(load(path, environ={}), rng=random.Random(seed), clock=clock)
    gateway = Gateway(app, document, path, frozenset(asyncio.all_tasks()), fds_before)
    await gateway.start()
    try:
        yield gateway
        await gateway.stop()
        no_secret_shows(folder, metrics=gateway.metrics().encode())
    finally:
        await gateway.abandon()


def write_configuration(
    path: Path,
    *providers: FakeProvider | At,
    groups: Mapping[str, object] | None = None,
    provider_fields: Mapping[str, Mapping[str, object]] | None = None,
    server: Mapping[str, object] | None = None,
    **sections: object,
) -> Mapping[str, object]:
    """Write the configuration of a gateway in front of `providers`; its decision records go into the same folder.

    Each provider has a key that must never show: see `no_secret_shows`.
    """
    fields, asked = provider_fields or {}, server or {}
    limits = {"queue": "10s", **cast("Mapping[str, object]", asked.get("limits", {}))}  # a busy machine sheds nothing
    document: Mapping[str, object] = {
        "version": 1,
        "auth": {"mode": "none"},
        "server": {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0", **asked, "limits": limits},
        "records": {"decisions": {"path": str(path.parent / DECISIONS_FILE)}},
        "providers": {
            each.name: {"kind": "vllm", "base_url": each.base_url, "api_key": PROVIDER_KEY, **fields.get(each.name, {})}
            for each in providers
        },
        "models": groups or {"chat": group(*providers)},
        **sections,
    }
    path.write_text(yaml.safe_dump(document))
    return document


def read_records(folder: Path) -> list[dict[str, Any]]:
    """All decision records that a gateway has left in its folder."""
    return [msgspec.json.decode(line) for line in (folder / DECISIONS_FILE).read_bytes().splitlines()]


def no_secret_shows(folder: Path, **written: bytes) -> None:
    """A standing oracle: nothing of what is planted is in the records, or in anything else that was written."""
    records = folder / DECISIONS_FILE
    found = leaks({"records": records.read_bytes() if records.exists() else b"", **written})
    assert found == []


def group(*providers: FakeProvider | At, strategy: str = "failover", **fields: object) -> dict[str, object]:
    """A model group of one target per provider, `a/m-a` and so on."""
    return {"strategy": strategy, "targets": [{"model": f"{each.name}/m-{each.name}"} for each in providers], **fields}


def pairs(first: str, second: str, count: int) -> dict[str, object]:
    """`count` groups, "chat-0" and so on, each with a target of its own at `first` and a common one at `second`."""
    last = {"model": f"{second}/m-{second}"}
    return {
        f"chat-{number}": {"strategy": "failover", "targets": [{"model": f"{first}/m-{number}"}, last]}
        for number in range(count)
    }


def weighted(providers: Sequence[FakeProvider | At], weights: Sequence[float], **fields: object) -> dict[str, object]:
    """A model group with weights."""
    targets = [
        {"model": f"{each.name}/m-{each.name}", "weight": weight}
        for each, weight in zip(providers, weights, strict=True)
    ]
    return {"targets": targets, **fields}


@asynccontextmanager
async def raw_server(serve: Any, name: str = "a") -> AsyncIterator[At]:
    """A provider whose every connection is served by `serve`."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield At(name, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    finally:
        server.close()
        await server.wait_closed()


async def eventually(
    is_true: Callable[[], bool], why: Callable[[], str] = lambda: "it never came true", patience_s: float = PATIENCE_S
) -> None:
    """Poll, with a bound, for what tells nobody when it happens."""
    end = asyncio.get_running_loop().time() + patience_s
    while not is_true():
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError(why())
        await asyncio.sleep(POLL_S)


def open_fds() -> int:
    """Open file descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
