"""An edge on a real socket that must leave nothing behind, and handlers to put into it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from msgspec import structs

from pointsman.config.settings import DEFAULT_BODY_LIMIT_BYTES, DEFAULT_MAX_CONNECTIONS
from pointsman.domain.errors import GatewayError
from pointsman.http1.door import Rendered, Request
from pointsman.http1.head import RequestHead
from pointsman.http1.limits import EdgeLimits, Watchdog
from pointsman.http1.reply import Reply
from pointsman.http1.server import EdgeServer
from pointsman.testing.wire import PATIENCE_S, Wire

TICK_S = 0.005
LIMITS = EdgeLimits(
    body_bytes=DEFAULT_BODY_LIMIT_BYTES, connections=DEFAULT_MAX_CONNECTIONS, strangers_per_address=None
)

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
Handler: TypeAlias = Callable[[Request, Reply], Awaitable[None]]


class Door:
    """Lets everybody in to one handler, unless `refusal` says otherwise."""

    def __init__(self, handler: Handler, refusal: GatewayError | None = None) -> None:
        self.handler, self.refusal = handler, refusal
        self.admitted: list[RequestHead] = []  # heads that were asked about
        self.expected_bytes: list[int] = []  # at that time

    def __call__(self, request: Request, reply: Reply) -> Awaitable[None]:
        return self.handler(request, reply)

    def admit(self, head: RequestHead, expected_bytes: int) -> None:
        self.admitted.append(head)
        self.expected_bytes.append(expected_bytes)
        if self.refusal is not None:
            raise self.refusal

    def is_probe(self, head: RequestHead) -> bool:
        return head.path == "/livez"

    def knows(self, head: RequestHead) -> bool:
        return b"x-api-key" in head.headers

    def render_error(self, error: GatewayError, head: RequestHead | None, *, is_local: bool) -> Rendered:
        return error.status, b"content-type: text/plain\r\n", error.message.encode()


async def until(is_true: Callable[[], bool]) -> None:
    """Wait until something is true; raises `TimeoutError` if it never is."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_true():
            await asyncio.sleep(0.001)


@asynccontextmanager
async def edge(door: Handler | Door, **limits: float) -> AsyncIterator[EdgeServer]:
    """Whatever happened in between, no connection, task or watchdog entry is left once the callers are gone."""
    tasks = asyncio.all_tasks()
    watchdog = Watchdog(asyncio.get_running_loop(), TICK_S)
    guarded = door if isinstance(door, Door) else Door(door)
    server = EdgeServer(guarded, structs.replace(LIMITS, **limits), watchdog)
    watchdog.start()
    await server.start("127.0.0.1", 0)
    try:
        yield server
        await until(lambda: not server.connections)
    finally:
        await server.drain(0.0)
        watchdog.stop()
    await until(lambda: asyncio.all_tasks() == tasks)
    assert len(watchdog) == 0


class Stubborn(Wire):
    """A caller that keeps its side open when the server has closed its own."""

    def eof_received(self) -> bool:  # type: ignore[override]
        super().eof_received()
        return True


async def dial(server: EdgeServer, kind: type[Wire] = Wire) -> Wire:
    return await kind.open(f"http://127.0.0.1:{server.port}")


async def echo(request: Request, reply: Reply) -> None:
    """Says what it got: the method, the target and the body."""
    head = request.head
    reply.send(200, b"", b"%b %b %b" % (head.method.encode(), head.path.encode(), request.body))


class Stuck:
    """A handler that answers nothing; notes when it begins and when it is cancelled."""

    def __init__(self) -> None:
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()
        self.replies: list[Reply] = []

    async def __call__(self, request: Request, reply: Reply) -> None:
        self.replies.append(reply)
        self.begun.set()
        try:
            await self.work(reply)
            await asyncio.get_running_loop().create_future()
        finally:
            self.cancelled.set()

    async def work(self, reply: Reply) -> None:
        """What happens before it gets stuck."""

    async def wait(self, event: asyncio.Event) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await event.wait()


class Flood(Stuck):
    """Streams more than any buffer holds, and gets stuck; counts what back-pressure asks of its source."""

    def __init__(self, size: int = 8 * 1024 * 1024) -> None:
        super().__init__()
        self.size = size
        self.asked: list[str] = []

    async def work(self, reply: Reply) -> None:
        reply.flow = self
        reply.start(200, b"")
        reply.write(b"x" * self.size)

    def pause_reading(self) -> None:
        self.asked.append("pause")

    def resume_reading(self) -> None:
        self.asked.append("resume")


class Gate:
    """A handler that echoes once it is let through."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.paths: list[str] = []

    async def __call__(self, request: Request, reply: Reply) -> None:
        self.paths.append(request.head.path)
        await self.open.wait()
        await echo(request, reply)
