"""Load of open streams: how long each event was under way, and whether each stream came to its proper end."""

import asyncio
import time
from typing import cast

from benchmarks.load import END_OF_CHUNKS, Load, LoadError, check_status
from benchmarks.payloads import DONE, TIME_DIGITS, TIME_MARK

_MARK_BYTES = len(TIME_MARK) + TIME_DIGITS
_TAIL_BYTES = 64  # holds `[DONE]`, the last chunk and what stands between them


def sent_times(data: bytes) -> tuple[list[int], bytes]:
    """The send time of each event in `data`, and the rest in which a further mark may have begun."""
    times_ns = []
    searched = 0
    at = data.find(TIME_MARK)
    while 0 <= at <= len(data) - _MARK_BYTES:
        searched = at + _MARK_BYTES
        times_ns.append(int(data[at + len(TIME_MARK) : searched]))
        at = data.find(TIME_MARK, searched)
    return times_ns, data[max(searched, len(data) - _MARK_BYTES + 1) :]


class OpenStreams(Load):
    """`streams` callers that read one stream each, started evenly over `spread_s`. Samples are one-way delays."""

    def __init__(self, port: int, request: bytes, streams: int, *, spread_s: float) -> None:
        super().__init__(port, request)
        self._streams = streams
        self._spread_s = spread_s

    async def start(self) -> None:
        begin_s = self._loop.time()
        for index in range(self._streams):
            await self._connect(lambda: _StreamConnection(self))
            next_s = begin_s + self._spread_s * (index + 1) / self._streams
            await self.run(max(next_s - self._loop.time(), 0.0))


class _StreamConnection(asyncio.Protocol):
    def __init__(self, load: OpenStreams) -> None:
        self._load = load
        self._pending = b""
        self._tail = b""
        self._begun = False
        self._complete = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._load.request)

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.closed(None if self._complete else f"a stream ended without [DONE] ({exc})")

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        if not self._begun:
            self._begin(data)
        times_ns, self._pending = sent_times(self._pending + data)
        for sent_ns in times_ns:
            self._load.samples_ns.append(now_ns - sent_ns)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        if self._tail.endswith(END_OF_CHUNKS):
            self._complete = DONE in self._tail
            self._transport.close()

    def _begin(self, data: bytes) -> None:
        self._begun = True
        try:
            check_status(data)
        except LoadError as error:
            self._load.fail(error)
            self._transport.abort()
