"""The bare relay: the least a Python gateway can do and still be correct. No routing, no records, no metrics.

It reads the whole request, peeks at `model` and `stream`, replaces the credential, writes the framing headers anew and
relays the answer over pooled connections, streams piece by piece with back-pressure. What the gateway costs beyond
this is the price of its features.
"""

import argparse
import asyncio
import gc
from collections import deque
from http import HTTPStatus
from typing import cast

import msgspec
import uvloop
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from msgspec import Struct

from benchmarks.payloads import CHUNKED_END
from benchmarks.relay_upstream import HOP_HEADERS, Pool, UpstreamConnection, UpstreamError

_DROPPED = HOP_HEADERS | {b"authorization", b"expect", b"host"}
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class _Peek(Struct):
    model: str
    stream: bool = False


class _Request(Struct):
    method: bytes
    target: bytes
    headers: bytes  # ready to be written, without framing headers
    body: bytes
    keep_alive: bool


_peek = msgspec.json.Decoder(_Peek)


def _status_line(status: int) -> bytes:
    return _STATUS_LINES.get(status) or b"HTTP/1.1 %d Unknown\r\n" % status  # providers invent codes, such as 529


class Relay(Struct, frozen=True):
    """What all connections share."""

    pool: Pool
    fixed_headers: bytes  # host and credential of the provider


class CallerConnection(asyncio.Protocol):
    """One connection of a caller; pipelined requests wait in line."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._loop = asyncio.get_running_loop()
        self._parser = HttpRequestParser(self)
        self._target = b""
        self._headers: list[bytes] = []
        self._body: list[bytes] = []
        self._waiting: deque[_Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._source: UpstreamConnection | None = None  # of the stream that is being relayed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        if self._source is not None:
            self._source.pause()

    def resume_writing(self) -> None:
        if self._source is not None:
            self._source.resume()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._write(400, b"", b"not HTTP/1.1")
            self._transport.close()

    def on_message_begin(self) -> None:
        """Called by the parser before a request."""
        self._headers.clear()
        self._body.clear()

    def on_url(self, url: bytes) -> None:
        """Called by the parser with the request target."""
        self._target = url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser for each header."""
        if name.lower() not in _DROPPED:
            self._headers.append(b"%b: %b\r\n" % (name, value))

    def on_body(self, data: bytes) -> None:
        """Called by the parser with a piece of the body."""
        self._body.append(data)

    def on_message_complete(self) -> None:
        """Called by the parser at the end of a request."""
        parser = self._parser
        request = _Request(
            parser.get_method(), self._target, b"".join(self._headers), b"".join(self._body), parser.should_keep_alive()
        )
        if self._task is None:
            self._task = self._loop.create_task(self._serve(request))
        else:
            self._waiting.append(request)
            self._transport.pause_reading()

    def begin(self, status: int, headers: bytes, source: UpstreamConnection) -> None:
        """The head of a streamed answer."""
        self._source = source
        self._transport.write(b"%b%btransfer-encoding: chunked\r\n\r\n" % (_status_line(status), headers))

    def push(self, data: bytes) -> None:
        """One piece of a streamed answer."""
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def _serve(self, request: _Request) -> None:
        try:
            if request.method == b"GET":
                self._write(200, b"", b"ok")
            else:
                await self._forward(request)
        except (msgspec.DecodeError, UpstreamError) as error:
            if self._source is not None:
                self._transport.abort()  # never a clean end for a broken stream
                return
            self._write(400 if isinstance(error, msgspec.DecodeError) else 502, b"", str(error).encode())
        if not request.keep_alive:
            self._transport.close()
            return
        self._next()

    async def _forward(self, request: _Request) -> None:
        peek = _peek.decode(request.body)
        head = b"%b %b HTTP/1.1\r\n%b%bcontent-length: %d\r\n\r\n" % (
            request.method, request.target, self._relay.fixed_headers, request.headers, len(request.body)
        )  # fmt: skip
        reply = await self._relay.pool.exchange(head, request.body, self if peek.stream else None)
        if self._source is None:
            self._write(reply.status, reply.headers, reply.body)
            return
        self._source.resume()  # it may have been paused by its last piece
        self._source = None
        self._transport.write(CHUNKED_END)

    def _write(self, status: int, headers: bytes, body: bytes) -> None:
        head = b"%b%bcontent-length: %d\r\n\r\n" % (_status_line(status), headers, len(body))
        self._transport.writelines((head, body))

    def _next(self) -> None:
        self._task = None
        if self._waiting:
            self._task = self._loop.create_task(self._serve(self._waiting.popleft()))
            if not self._waiting:
                self._transport.resume_reading()


async def start(port: int, upstream_port: int) -> asyncio.Server:
    """A relay that listens on `port` (0: any free one) for the provider at `upstream_port`."""
    fixed = f"host: 127.0.0.1:{upstream_port}\r\nauthorization: Bearer sk-upstream\r\n".encode()
    relay = Relay(Pool("127.0.0.1", upstream_port), fixed)
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: CallerConnection(relay), "127.0.0.1", port, backlog=1024)


async def serve(port: int, upstream_port: int) -> None:
    """Runs the relay until the process is ended."""
    server = await start(port, upstream_port)
    gc.freeze()
    await server.serve_forever()


def main() -> None:
    """Entry point of the relay's process."""
    parser = argparse.ArgumentParser(description="Bare relay, the baseline of the benchmarks.")
    parser.add_argument("port", type=int)
    parser.add_argument("upstream_port", type=int)
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.port, arguments.upstream_port))


if __name__ == "__main__":
    main()
