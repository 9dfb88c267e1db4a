"""A provider that speaks every dialect over real sockets and answers as told, faults included."""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self, TypeAlias

import msgspec
from msgspec import structs

from pointsman.domain.ports import Clock
from pointsman.domain.request import Dialect
from pointsman.http1.clock import SystemClock
from pointsman.testing import chat
from pointsman.testing.answers import Answer, Chat, Json, Status
from pointsman.testing.capacity import Capacity
from pointsman.testing.chat import NOTHING_SPECIAL
from pointsman.testing.connection import Connection
from pointsman.testing.reader import Message
from pointsman.testing.received import Received
from pointsman.testing.script import Step, steps

HOST = "127.0.0.1"
_BACKLOG = 1024  # else a thousand connections at once wait for the kernel, not for us
FINE = Chat("ok")
PATIENCE_S = 2.0  # after this a test fails instead of hanging

COUNT_PATH = "/messages/count_tokens"
POLICY_PATH = "/decide"  # asked as a policy service: answers are scripted as those to other requests
DIALECT_BY_PATH = {
    "/chat/completions": Dialect.OPENAI_CHAT,
    "/completions": Dialect.OPENAI_COMPLETIONS,
    "/embeddings": Dialect.OPENAI_EMBEDDINGS,
    "/responses": Dialect.OPENAI_RESPONSES,
    "/messages": Dialect.ANTHROPIC_MESSAGES,
}
ID_PREFIX = {
    Dialect.OPENAI_CHAT: "chatcmpl",
    Dialect.OPENAI_RESPONSES: "resp",
    Dialect.ANTHROPIC_MESSAGES: "msg",
    Dialect.OPENAI_EMBEDDINGS: "embd",
    Dialect.OPENAI_COMPLETIONS: "cmpl",
}
STORED_PATH = "/responses/"
STORED = structs.replace(NOTHING_SPECIAL, dialect=Dialect.OPENAI_RESPONSES)
MESSAGES = structs.replace(NOTHING_SPECIAL, dialect=Dialect.ANTHROPIC_MESSAGES)

AnswerFor: TypeAlias = Callable[[Received], Answer]


class FakeProvider:
    """Listens between `start` and `stop`; a stopped one starts again on the same port.

    A request for a model is answered in its own dialect, by the next scripted answer, else by `answer_for`, else by
    `default`; so is one about a stored response. Above `capacity` it gets a 429 and takes none of them. A request to
    count tokens is answered by `count_answer` (None: with a count). Idle connections are closed after `idle_s` (None:
    never). `log` keeps only the latest `log_limit` requests (None: all).
    """

    def __init__(
        self,
        *,
        name: str = "fake",
        port: int = 0,
        default: Answer = FINE,
        answer_for: AnswerFor | None = None,
        capacity: Capacity | None = None,
        clock: Clock | None = None,
        idle_s: float | None = None,
        tls: ssl.SSLContext | None = None,
        log_limit: int | None = None,
    ) -> None:
        self.name = name
        self.default = default
        self.answer_for = answer_for
        self.count_answer: Answer | None = None
        self.capacity = capacity
        self.idle_s = idle_s
        self.log: list[Received] = []
        self.connections_accepted = 0
        self._log_limit = log_limit
        self._requests_received = 0
        self._port = port
        self._clock = clock or SystemClock()
        self._tls = tls
        self._script: deque[Answer] = deque()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._changed = asyncio.Event()

    @property
    def base_url(self) -> str:
        """Where its API begins; known once it has started."""
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://{HOST}:{self._port}/v1"

    @property
    def open_connections(self) -> int:
        """Connections that neither side has closed."""
        return len(self._connections)

    @property
    def unused_answers(self) -> int:
        """Scripted answers that no request has taken yet."""
        return len(self._script)

    def script(self, *answers: Answer) -> None:
        """Queue answers: each is given once, in order."""
        self._script.extend(answers)

    async def start(self) -> None:
        """Begin to listen."""
        loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()  # an event belongs to the loop it was first waited in
        self._server = await loop.create_server(
            lambda: Connection(self), HOST, self._port, ssl=self._tls, backlog=_BACKLOG
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and close all sockets at once, whatever was in progress."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        connections = tuple(self._connections)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.is_lost.wait()

    async def until(self, is_true: Callable[[], bool], *, patience_s: float = PATIENCE_S) -> None:
        """Wait until something about the log or the connections is true; raises `TimeoutError` if it never is."""
        async with asyncio.timeout(patience_s):
            while not is_true():
                self._changed.clear()
                await self._changed.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def opened(self, connection: Connection) -> int:
        """Part of `connection.Host`."""
        self._connections.add(connection)
        self.connections_accepted += 1
        self._changed.set()
        return self.connections_accepted

    def lost(self, connection: Connection) -> None:
        """Part of `connection.Host`."""
        self._connections.discard(connection)
        self._changed.set()

    def received(self, message: Message, connection: int) -> Received:
        """Part of `connection.Host`."""
        self._requests_received += 1
        received = Received(
            method=message.method,
            path=message.path,
            headers=message.headers,
            body=message.body,
            is_last=message.is_last,
            connection=connection,
            number=self._requests_received,
            received_at=self._clock.now(),
        )
        self.log.append(received)
        if self._log_limit is not None and len(self.log) > self._log_limit:
            del self.log[0]
        self._changed.set()
        return received

    def peer_left(self, received: Received) -> None:
        """Part of `connection.Host`."""
        received.closed_at = self._clock.now()
        received.closed.set()
        self._changed.set()

    def steps_for(self, received: Received) -> Iterator[Step]:
        """Part of `connection.Host`."""
        path = received.path.partition("?")[0]
        if received.method == "POST" and path.endswith(COUNT_PATH):
            return steps(self.count_answer or _count(received), MESSAGES)
        if received.method == "POST" and path.endswith(POLICY_PATH):
            return steps(self._next_answer(received), NOTHING_SPECIAL)
        dialect = next((dialect for end, dialect in DIALECT_BY_PATH.items() if path.endswith(end)), None)
        if received.method == "POST" and dialect is not None:
            return self._asked(received, dialect)
        if STORED_PATH in path:
            return steps(self._next_answer(received), STORED)
        if received.method == "GET" and path.endswith("/models"):
            return steps(Json(200, chat.models(chat.DEFAULT_MODEL, owner=self.name)), NOTHING_SPECIAL)
        return steps(Status(404, f"there is no {received.method} {path}"), NOTHING_SPECIAL)

    def _asked(self, received: Received, dialect: Dialect) -> Iterator[Step]:
        answer_id = f"{ID_PREFIX[dialect]}-{self.name}-{received.number}"
        created = int(self._clock.utc())
        try:
            asked = chat.asked(received.body, answer_id=answer_id, created=created, dialect=dialect)
        except msgspec.MsgspecError as fault:
            nothing = structs.replace(NOTHING_SPECIAL, dialect=dialect)
            return steps(Status(400, f"the body is no request for a model: {fault}"), nothing)
        if self.capacity is None:
            return steps(self._next_answer(received), asked)
        admission = self.capacity.admit(self._clock.now())
        if not admission.is_granted:
            return steps(admission.refusal(), asked)
        return steps(admission.told_in(self._next_answer(received)), asked)

    def _next_answer(self, received: Received) -> Answer:
        if self._script:
            return self._script.popleft()
        return self.default if self.answer_for is None else self.answer_for(received)


def _count(received: Received) -> Json:
    return Json(200, {"input_tokens": len(received.body) // chat.BYTES_PER_TOKEN})


@contextmanager
def refused_port() -> Iterator[str]:
    """A base URL where connections are refused: its port is bound, so that nobody else takes it, but not listening."""
    with socket.socket() as placeholder:
        placeholder.bind((HOST, 0))
        yield f"http://{HOST}:{placeholder.getsockname()[1]}/v1"
