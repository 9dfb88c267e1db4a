"""The bare relay's side towards the provider: pooled keep-alive connections, one exchange at a time on each."""

import asyncio
from typing import Protocol, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

# Framing and hop-by-hop headers are never passed on; each side writes its own.
HOP_HEADERS = frozenset(
    b"connection content-length keep-alive proxy-authenticate proxy-authorization proxy-connection"
    b" te trailer transfer-encoding upgrade".split()
)


class UpstreamError(Exception):
    """The provider gave no whole answer."""


class UnansweredError(UpstreamError):
    """The connection ended before the first byte of an answer."""


class Reply(Struct):
    """An answer. The body is empty when it went to the sink piece by piece."""

    status: int
    headers: bytes  # ready to be written, without framing headers
    body: bytes


class Sink(Protocol):
    """Takes a streamed answer as it arrives."""

    def begin(self, status: int, headers: bytes, source: "UpstreamConnection") -> None:
        """The head is complete; `source` can be paused and resumed."""

    def push(self, data: bytes) -> None:
        """One piece of the body."""


class UpstreamConnection(asyncio.Protocol):
    """One connection to the provider."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = HttpResponseParser(self)
        self._reply: asyncio.Future[Reply] | None = None
        self._sink: Sink | None = None
        self._push: Sink | None = None  # the sink, once it is known that the answer has no length
        self._answered = False
        self._headers: list[bytes] = []
        self._body: list[bytes] = []
        self._has_length = False
        self.reusable = True

    def send(self, head: bytes, body: bytes, sink: Sink | None) -> asyncio.Future[Reply]:
        """Writes a request; the future holds the reply once its last byte is there. None: no streaming."""
        self._reply = self._loop.create_future()
        self._sink, self._push, self._answered = sink, None, False
        self._transport.writelines((head, body))
        return self._reply

    def abort(self) -> None:
        """Ends the connection at once: nobody waits for the answer any more."""
        self.reusable = False
        self._transport.abort()

    def pause(self) -> None:
        """Reads nothing until `resume`."""
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Reads again."""
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.reusable = False
        if self._answered:
            self._fail(UpstreamError("the provider closed the connection in the middle of its answer"))
        else:
            self._fail(UnansweredError("the provider closed the connection without an answer"))

    def data_received(self, data: bytes) -> None:
        if self._reply is None:  # nobody asked
            self.abort()
            return
        self._answered = True
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(UpstreamError(f"the provider's answer is not HTTP/1.1: {error}"))
            self.abort()

    def on_message_begin(self) -> None:
        """Called by the parser before the first byte of an answer."""
        self._headers.clear()
        self._body.clear()
        self._has_length = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser for each header."""
        lowered = name.lower()
        if lowered not in HOP_HEADERS:
            self._headers.append(b"%b: %b\r\n" % (name, value))
        elif lowered == b"content-length":
            self._has_length = True

    def on_headers_complete(self) -> None:
        """Called by the parser at the end of the head."""
        if self._sink is not None and not self._has_length:
            self._push = self._sink
            self._push.begin(self._parser.get_status_code(), b"".join(self._headers), self)

    def on_body(self, data: bytes) -> None:
        """Called by the parser with a piece of the body."""
        if self._push is not None:
            self._push.push(data)
        else:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """Called by the parser at the proven end of an answer, never because the connection ended."""
        reply, self._reply = self._reply, None
        self.reusable = self._parser.should_keep_alive()
        if reply is not None and not reply.done():
            reply.set_result(Reply(self._parser.get_status_code(), b"".join(self._headers), b"".join(self._body)))

    def _fail(self, error: UpstreamError) -> None:
        reply, self._reply = self._reply, None
        if reply is not None and not reply.done():
            reply.set_exception(error)


class Pool:
    """Idle connections to one provider, the most recently used first."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._idle: list[UpstreamConnection] = []

    async def exchange(self, head: bytes, body: bytes, sink: Sink | None) -> Reply:
        """One request and its answer; a reused connection that proves dead is replaced."""
        while True:
            reused = self._take_idle()
            connection = reused or await self._connect()
            try:
                reply = await connection.send(head, body, sink)
            except UnansweredError:
                if reused is None:
                    raise
                continue
            except asyncio.CancelledError:
                connection.abort()
                raise
            if connection.reusable:
                self._idle.append(connection)
            else:
                connection.abort()
            return reply

    def _take_idle(self) -> UpstreamConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
        return None

    async def _connect(self) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(UpstreamConnection, self._host, self._port)
        except OSError as error:
            raise UpstreamError(f"the provider cannot be reached: {error}") from error
        return connection
