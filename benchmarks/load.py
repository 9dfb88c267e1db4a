"""Load on raw sockets, cheap enough to share a core with the mock: what every load shares, and the closed loop.

A load notes one sample per unit of work (request or event), so that a window is two indexes into `samples_ns`.
"""

import asyncio
import time
from array import array
from collections.abc import Callable
from typing import cast

from benchmarks.payloads import CHUNKED_END

_FINISH_TIMEOUT_S = 15.0
END_OF_CHUNKS = b"\r\n" + CHUNKED_END
_LENGTH_HEADER = b"\r\ncontent-length:"


class LoadError(Exception):
    """An answer that is not what was asked for; the run ends with it."""


def check_status(data: bytes) -> None:
    """Raises LoadError for anything but a 200."""
    if not data.startswith(b"HTTP/1.1 200"):
        raise LoadError(f"not a 200: {data[:600].decode(errors='replace')}")


def answer_end(data: bytes) -> tuple[int, bool] | None:
    """Length of the whole answer and whether the connection stays open; None while part of the answer is missing."""
    head_end = data.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    check_status(data)
    head = data[: head_end + 2].lower()
    stays_open = b"\r\nconnection: close" not in head
    at = head.find(_LENGTH_HEADER)
    if at >= 0:
        begin = at + len(_LENGTH_HEADER)
        end = head_end + 4 + int(head[begin : head.index(b"\r\n", begin)])
        return (end, stays_open) if len(data) >= end else None
    if b"\r\ntransfer-encoding: chunked" not in head:
        raise LoadError("an answer with neither a length nor chunks")
    end = data.find(END_OF_CHUNKS, head_end + 2)
    return (end + len(END_OF_CHUNKS), stays_open) if end >= 0 else None


class Load:
    """What both kinds share: samples, the first failure, and knowing when every connection is closed."""

    def __init__(self, port: int, request: bytes) -> None:
        self.port = port
        self.request = request
        self.samples_ns = array("q")
        self.finishing = False
        self._loop = asyncio.get_running_loop()
        self._failure: asyncio.Future[None] = self._loop.create_future()
        self._all_closed: asyncio.Future[None] = self._loop.create_future()
        self._open = 0

    async def start(self) -> None:
        """Opens every connection."""
        raise NotImplementedError

    async def run(self, seconds: float) -> None:
        """Lets the load run; raises LoadError as soon as anything goes wrong."""
        await asyncio.wait({self._failure}, timeout=seconds)
        self._raise_failure()

    async def finish(self) -> None:
        """Lets everything under way come to its proper end."""
        self.finishing = True
        if self._open:
            ends = {self._all_closed, self._failure}
            await asyncio.wait(ends, timeout=_FINISH_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        self._raise_failure()
        if self._open:
            raise LoadError(f"{self._open} connections did not come to an end within {_FINISH_TIMEOUT_S:g} s")

    def closed(self, problem: str | None) -> None:
        """A connection is gone; `problem` says why it should not be."""
        self._open -= 1
        if problem is not None:
            self.fail(LoadError(problem))
        if self.finishing and not self._open and not self._all_closed.done():
            self._all_closed.set_result(None)

    def fail(self, error: LoadError) -> None:
        """Only the first failure counts: the others are its echo."""
        if not self._failure.done():
            self._failure.set_exception(error)

    async def _connect(self, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._open += 1  # from the first attempt on, so that `finish` waits for it
        try:
            await self._loop.create_connection(protocol, "127.0.0.1", self.port)
        except OSError as error:
            self.closed(f"cannot connect: {error}")

    def _raise_failure(self) -> None:
        if self._failure.done():
            self._failure.result()


class ClosedLoop(Load):
    """`connections` callers, each of which asks again as soon as it has its answer. Samples are latencies."""

    def __init__(self, port: int, request: bytes, connections: int) -> None:
        super().__init__(port, request)
        self._connections = connections
        self._reopening: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        for _ in range(self._connections):
            await self._connect(lambda: _UnaryConnection(self))

    def reopen(self) -> None:
        """Replaces a connection that the server asked to close."""
        task = self._loop.create_task(self._connect(lambda: _UnaryConnection(self)))
        self._reopening.add(task)
        task.add_done_callback(self._reopening.discard)


class _UnaryConnection(asyncio.Protocol):
    def __init__(self, load: ClosedLoop) -> None:
        self._load = load
        self._data = b""
        self._sent_ns = 0
        self._waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.closed(f"a connection was closed before its answer was complete ({exc})" if self._waiting else None)

    def data_received(self, data: bytes) -> None:
        if self._data:
            data = self._data + data
        try:
            found = answer_end(data)
        except LoadError as error:
            self._load.fail(error)
            self._transport.abort()
            return
        if found is None:
            self._data = data
            return
        end, stays_open = found
        self._data = b""
        self._waiting = False
        self._load.samples_ns.append(time.perf_counter_ns() - self._sent_ns)
        if end != len(data):
            self._load.fail(LoadError("more bytes than the answer announced"))
        if stays_open and not self._load.finishing:
            self._ask()
            return
        self._transport.close()
        if not self._load.finishing:
            self._load.reopen()

    def _ask(self) -> None:
        self._waiting = True
        self._sent_ns = time.perf_counter_ns()
        self._transport.write(self._load.request)
