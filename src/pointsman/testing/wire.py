"""A raw client that sends any bytes and sees what really comes back, up to the way the connection ends."""

import asyncio
from typing import Any, Literal, Self, TypeAlias, cast
from urllib.parse import urlsplit

import httptools
import msgspec
from msgspec import Struct, field

from pointsman.testing.player import reset

PATIENCE_S = 2.0  # after this a test fails instead of hanging

Ending: TypeAlias = Literal["fin", "rst"]


class Reply(Struct):
    """One complete HTTP answer."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)  # the body in the pieces the parser saw

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.chunks)

    def header(self, name: str) -> bytes | None:
        """The first header of that name, in any case."""
        wanted = name.lower().encode("latin-1")
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def json(self) -> Any:
        """The decoded body."""
        return msgspec.json.decode(self.body)


class Wire(asyncio.Protocol):
    """One client connection: `received` holds every byte that came, `ended` how the server closed (None: not yet)."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.ended: Ending | None = None
        self._changed = asyncio.Event()
        self._replies: list[Reply] = []
        self._reply = Reply()
        self._parser = httptools.HttpResponseParser(self)
        self._is_http = True

    @classmethod
    async def open(cls, base_url: str) -> Self:
        """Connect to the host of a base URL."""
        parts = urlsplit(base_url)
        _, wire = await asyncio.get_running_loop().create_connection(cls, parts.hostname or "", parts.port or 80)
        return wire

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        """Send these bytes."""
        self._transport.write(data)

    def close(self) -> None:
        """Close with FIN."""
        self._transport.close()

    def half_close(self) -> None:
        """Send FIN and keep on reading."""
        self._transport.write_eof()

    def reset(self) -> None:
        """Close with RST."""
        reset(self._transport)

    def pause(self) -> None:
        """Stop reading: the server's writes pile up."""
        self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._transport.resume_reading()

    async def reply(self, patience_s: float = PATIENCE_S) -> Reply:
        """The next complete answer; raises `TimeoutError` if none comes."""
        async with asyncio.timeout(patience_s):
            while not self._replies:
                await self._change()
        return self._replies.pop(0)

    async def received_bytes(self, count: int) -> bytes:
        """All bytes so far, once there are at least `count`."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.received) < count:
                await self._change()
        return bytes(self.received)

    async def end(self) -> Ending:
        """How the server ended the connection; raises `TimeoutError` if it does not."""
        async with asyncio.timeout(PATIENCE_S):
            while self.ended is None:
                await self._change()
        return self.ended

    async def is_silent(self, duration_s: float) -> bool:
        """Whether nothing at all happens for so long."""
        self._changed.clear()
        try:
            async with asyncio.timeout(duration_s):
                await self._changed.wait()
        except TimeoutError:
            return True
        return False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of asyncio's protocol."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Part of asyncio's protocol. What is not HTTP is kept in `received` only."""
        self.received += data
        if self._is_http:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserError:
                self._is_http = False
        self._changed.set()

    def eof_received(self) -> None:
        """Part of asyncio's protocol."""
        self.ended = "fin"
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of asyncio's protocol."""
        if exc is not None and self.ended is None:
            self.ended = "rst"
        self._changed.set()

    def on_message_begin(self) -> None:
        """Part of httptools' protocol."""
        self._reply = Reply()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Part of httptools' protocol."""
        self._reply.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """Part of httptools' protocol."""
        self._reply.chunks.append(body)

    def on_message_complete(self) -> None:
        """Part of httptools' protocol."""
        self._reply.status = self._parser.get_status_code()
        self._replies.append(self._reply)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


def post(path: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    """A POST request as bytes."""
    lines = [f"POST {path} HTTP/1.1", "host: test", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def messages_request(
    model: str = "m", *, path: str = "/v1/messages", headers: tuple[tuple[str, str], ...] = (), **fields: object
) -> bytes:
    """A Messages request as bytes; `fields` go into its body."""
    payload = {"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": "hi"}]} | fields
    return post(path, msgspec.json.encode(payload), headers)


def responses_request(
    model: str = "m", *, path: str = "/v1/responses", headers: tuple[tuple[str, str], ...] = (), **fields: object
) -> bytes:
    """A Responses request as bytes; `fields` go into its body."""
    return post(path, msgspec.json.encode({"model": model, "input": "hi"} | fields), headers)


def embeddings_request(
    model: str = "m", *, path: str = "/v1/embeddings", headers: tuple[tuple[str, str], ...] = (), **fields: object
) -> bytes:
    """A request for embeddings as bytes; `fields` go into its body."""
    return post(path, msgspec.json.encode({"model": model, "input": ["hi"]} | fields), headers)


def completions_request(
    model: str = "m", *, path: str = "/v1/completions", headers: tuple[tuple[str, str], ...] = (), **fields: object
) -> bytes:
    """A legacy request for a completion as bytes; `fields` go into its body."""
    return post(path, msgspec.json.encode({"model": model, "prompt": "hi"} | fields), headers)


def chat_request(
    model: str = "m", *, path: str = "/v1/chat/completions", headers: tuple[tuple[str, str], ...] = (), **fields: object
) -> bytes:
    """A chat request as bytes; `fields` go into its body."""
    payload = {"model": model, "messages": [{"role": "user", "content": "hi"}]} | fields
    return post(path, msgspec.json.encode(payload), headers)
