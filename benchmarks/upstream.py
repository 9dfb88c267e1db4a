"""A mock provider that costs as little as Python allows: one canned completion, or events at a steady pace."""

import argparse
import asyncio
import gc
import time
from collections.abc import Iterable
from typing import cast

import msgspec
import uvloop
from httptools import HttpRequestParser

from benchmarks.payloads import (
    COMPLETION,
    EVENT_INTERVAL_S,
    PROVIDER_HEADERS,
    STREAM_END,
    event_chunk,
    header_lines,
)

_HEAD = b"HTTP/1.1 200 OK\r\n" + header_lines(PROVIDER_HEADERS)
_JSON_REPLY = _HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_COMPLETION_REPLY = _JSON_REPLY % len(COMPLETION) + COMPLETION
_LIVE_REPLY = _JSON_REPLY % 2 + b"{}"
_STREAM_HEAD = _HEAD + b"Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


class _Wish(msgspec.Struct):
    stream: bool = False
    max_tokens: int = 200  # of a stream: how many content events


_wish = msgspec.json.Decoder(_Wish)


class MockProvider(asyncio.Protocol):
    """One connection. Answers requests in order; knows no errors, because the benchmark sends none."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = HttpRequestParser(self)
        self._body: list[bytes] = []
        self._events_left = 0
        self._due_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, data: bytes) -> None:
        """Called by the parser with a piece of the request's body."""
        self._body.append(data)

    def on_message_complete(self) -> None:
        """Called by the parser at the end of a request."""
        if self._parser.get_method() == b"GET":
            self._transport.write(_LIVE_REPLY)
            return
        wish = _wish.decode(b"".join(self._body))
        self._body.clear()
        if not wish.stream:
            self._transport.write(_COMPLETION_REPLY)
            return
        self._events_left = wish.max_tokens
        self._due_s = self._loop.time()
        self._transport.write(_STREAM_HEAD)
        self._emit()

    def _emit(self) -> None:
        self._transport.write(event_chunk(time.monotonic_ns()))
        self._events_left -= 1
        self._due_s += EVENT_INTERVAL_S  # from the plan, not from now: a late event does not delay the next ones
        self._timer = self._loop.call_at(self._due_s, self._emit if self._events_left else self._end)

    def _end(self) -> None:
        self._transport.write(STREAM_END)


async def listen(ports: Iterable[int]) -> list[asyncio.Server]:
    """Serves on all ports, in the running loop."""
    loop = asyncio.get_running_loop()
    return [await loop.create_server(MockProvider, "127.0.0.1", port, backlog=1024) for port in ports]


async def serve(ports: list[int]) -> None:
    """Listens on all ports until the process is ended."""
    await listen(ports)
    gc.freeze()
    await asyncio.get_running_loop().create_future()


def main() -> None:
    """Entry point of the mock's process."""
    parser = argparse.ArgumentParser(description="Mock provider of the benchmarks.")
    parser.add_argument("ports", type=int, nargs="+")
    uvloop.run(serve(parser.parse_args().ports))


if __name__ == "__main__":
    main()
