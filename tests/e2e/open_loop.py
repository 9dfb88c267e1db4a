"""Requests that come at a rate of their own, however long the answers take: as those of many callers do."""

import asyncio
import time
from collections import Counter
from typing import cast
from urllib.parse import urlsplit

from msgspec import Struct, field

_PACE_S = 0.005
_STATUS_AT = len(b"HTTP/1.1 ")
_END_OF_CHUNKS = b"\r\n0\r\n\r\n"


class Answers(Struct):
    """What came back, and when: seconds from the moment a request was sent."""

    statuses: Counter[int] = field(default_factory=Counter)
    served_s: list[float] = field(default_factory=list)
    unanswered: int = 0

    @property
    def p99_s(self) -> float:
        return sorted(self.served_s)[len(self.served_s) * 99 // 100]


class _Caller(asyncio.Protocol):
    """One kept connection: one request at a time, which is answered by a stream or by an error."""

    def __init__(self, load: "OpenLoop") -> None:
        self._load, self._sent_at, self._data = load, 0.0, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def send(self, request: bytes) -> None:
        self._sent_at, self._data = time.monotonic(), b""
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._data.endswith((_END_OF_CHUNKS, b"}")):  # of a stream, or of an error
            self._load.answered(self, int(self._data[_STATUS_AT : _STATUS_AT + 3]), time.monotonic() - self._sent_at)

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.lost(self)

    def close(self) -> None:
        self._transport.close()


class OpenLoop:
    """Sends the same request again and again, over as many connections as it takes."""

    def __init__(self, base_url: str, request: bytes) -> None:
        self._url, self._request = urlsplit(base_url), request
        self._idle: list[_Caller] = []
        self._all: set[_Caller] = set()
        self.answers = Answers()

    async def dial(self, count: int) -> None:
        """So many callers are there before they ask."""
        self._idle += [await self._dial() for _ in range(count)]

    async def run(self, rate_per_s: float, duration_s: float) -> Answers:
        """What came of the requests of this time; earlier ones that are still under way are not counted."""
        self.answers = Answers()
        began, sent = time.monotonic(), 0
        while (now_s := time.monotonic() - began) < duration_s:
            for _ in range(int(now_s * rate_per_s) - sent):
                sent += 1
                (self._idle.pop() if self._idle else await self._dial()).send(self._request)
            await asyncio.sleep(_PACE_S)
        self.answers.unanswered = sent - self.answers.statuses.total()
        return self.answers

    def answered(self, caller: _Caller, status: int, took_s: float) -> None:
        self.answers.statuses[status] += 1
        if status == 200:
            self.answers.served_s.append(took_s)
        self._idle.append(caller)

    def lost(self, caller: _Caller) -> None:
        self._all.discard(caller)
        if caller in self._idle:
            self._idle.remove(caller)

    def close(self) -> None:
        for caller in tuple(self._all):
            caller.close()

    async def _dial(self) -> _Caller:
        loop = asyncio.get_running_loop()
        _, caller = await loop.create_connection(lambda: _Caller(self), self._url.hostname, self._url.port)
        self._all.add(caller)
        return caller
