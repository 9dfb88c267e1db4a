"""A pool against a fake upstream that writes any bytes, and a receiver that hears what is made of them."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from pointsman.domain.target import Origin
from pointsman.http1.client import UpstreamConnection, WireFailure, WireFault
from pointsman.http1.limits import AttemptLimits, UpstreamLimits, Watchdog
from pointsman.http1.pool import ConnectionPool
from pointsman.http1.resolver import Resolver
from pointsman.http1.response_head import ResponseHead
from pointsman.testing import FakeProvider, Raw
from pointsman.testing.answers import RawThen
from pointsman.testing.wire import PATIENCE_S, chat_request
from tests.unit.http1.edge import until

TICK_S = 0.005
KEY = "tenant"
REQUEST = chat_request()
OK = b"HTTP/1.1 200 OK\r\n"

Said: TypeAlias = tuple[int, bytes]


class Heard:
    """One answer, piece by piece. `end` is "end" or the failure; None: it is not over."""

    has_content = False

    def __init__(self) -> None:
        self.head: ResponseHead | None = None
        self.pieces: list[bytes] = []
        self.end: str | WireFailure | None = None
        self.calls_after_end = 0
        self._over = asyncio.Event()

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def said(self) -> Said | None:
        return None if self.head is None else (self.head.status, self.body)

    def on_head(self, head: ResponseHead) -> None:
        self._note()
        self.head = head

    def on_data(self, data: bytes) -> None:
        self._note()
        self.pieces.append(data)

    def on_end(self) -> None:
        self._finish("end")

    def on_failure(self, failure: WireFailure) -> None:
        self._finish(failure)

    async def over(self) -> "Heard":
        """Once the answer has ended one way or the other."""
        async with asyncio.timeout(PATIENCE_S):
            await self._over.wait()
        return self

    def _note(self) -> None:
        self.calls_after_end += self.end is not None

    def _finish(self, end: str | WireFailure) -> None:
        self._note()
        self.end = end
        self._over.set()


def begin(connection: UpstreamConnection, heard: Heard, request: bytes = REQUEST) -> None:
    """Send a request that may take as long as it likes."""
    connection.begin(heard, request, AttemptLimits(math.inf, math.inf, math.inf), math.inf)


class Upstream:
    """A provider and a pool of connections to it."""

    def __init__(self, provider: FakeProvider, pool: ConnectionPool, watchdog: Watchdog) -> None:
        self.provider, self.pool, self.watchdog = provider, pool, watchdog

    @property
    def origin(self) -> Origin:
        scheme, _, rest = self.provider.base_url.partition("://")
        host, _, port = rest.removesuffix("/v1").partition(":")
        return Origin(scheme, host, int(port))

    async def connection(self) -> UpstreamConnection:
        return self.pool.reuse(KEY) or await self.pool.connect(self.origin, PATIENCE_S)

    async def exchange(self, request: bytes = REQUEST, *, idle_s: float = 60.0) -> Heard:
        """One request on a connection of the pool, which gets it back."""
        connection, heard = await self.connection(), Heard()
        begin(connection, heard, request)
        await heard.over()
        self.pool.release(KEY, connection, idle_s)
        return heard


@asynccontextmanager
async def upstream(**limits: int) -> AsyncIterator[Upstream]:
    """Nothing is left once the pool is closed: no connection, no task, no watchdog entry."""
    loop = asyncio.get_running_loop()
    tasks = asyncio.all_tasks()
    watchdog = Watchdog(loop, TICK_S)
    pool = ConnectionPool(loop, UpstreamLimits(**limits), watchdog, Resolver(loop))
    async with FakeProvider() as provider:
        watchdog.start()
        pool.start()
        try:
            yield Upstream(provider, pool, watchdog)
            pool.close()
            await until(lambda: provider.open_connections == len(watchdog) == 0)
        finally:
            pool.close()
            watchdog.stop()
    assert len(watchdog) == 0
    assert asyncio.all_tasks() == tasks


async def answer(*pieces: bytes, then: RawThen = "keep", **limits: int) -> Heard:
    """What is heard of an answer of exactly these bytes, one write each."""
    async with upstream(**limits) as up:
        up.provider.script(Raw(pieces, then=then))
        heard = await up.exchange()
    assert heard.calls_after_end == 0
    return heard


def sized(body: bytes, *headers: bytes, status: bytes = OK) -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"%b%bcontent-length: %d\r\n\r\n%b" % (status, lines, len(body), body)


def chunked(*parts: bytes, trailers: bytes = b"") -> bytes:
    coded = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return OK + b"transfer-encoding: chunked\r\n\r\n" + coded + b"0\r\n" + trailers + b"\r\n"


PROTOCOL = WireFailure(WireFault.PROTOCOL, got_bytes=True)
TRUNCATED = WireFailure(WireFault.TRUNCATED, got_bytes=True)
CLOSED = WireFailure(WireFault.CLOSED, got_bytes=False)
