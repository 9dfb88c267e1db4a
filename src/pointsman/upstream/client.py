"""One attempt over one connection: connect or reuse, send, watch the deadlines, never lose track of the socket."""

import asyncio
from typing import Protocol

from msgspec import Struct

from pointsman.domain.target import Provider
from pointsman.http1.client import Receiver, UpstreamConnection, WireFailure, WireFault
from pointsman.http1.limits import Watchdog
from pointsman.http1.pool import ConnectError, ConnectionPool
from pointsman.http1.reply import ReadFlow


class Answer(Receiver, Protocol):
    """Takes what comes back."""

    done: "asyncio.Future[WireFailure | None]"  # None: the message is complete, or the answer has seen enough
    has_content: bool

    def bind(self, flow: ReadFlow) -> None:
        """The connection the answer comes over; also called again when the request is sent anew."""
        ...


class AttemptLimits(Struct, frozen=True):
    """How long one attempt may take for what."""

    connect_s: float
    first_content_s: float
    idle_s: float


class Attempt:
    """One upstream call and its deadlines; armed by assignment, checked on the watchdog's tick."""

    __slots__ = ("answer", "connection", "deadline", "first_content_at", "limits")

    def __init__(self, answer: Answer, limits: AttemptLimits, deadline: float) -> None:
        self.answer, self.limits = answer, limits
        self.deadline = deadline  # of the whole request; monotonic seconds of the loop
        self.first_content_at = deadline  # set when the request is sent
        self.connection: UpstreamConnection | None = None

    def check(self, now: float) -> None:
        """Watchdog: end the attempt if one of its deadlines has passed."""
        connection = self.connection
        if connection is None:
            return
        if now >= self.deadline:
            connection.fail(WireFault.TIMEOUT_TOTAL)
        elif not self.answer.has_content:
            if now >= self.first_content_at:
                connection.fail(WireFault.TIMEOUT_FIRST_CONTENT)
        elif not connection.is_reading_paused and now >= connection.last_read_at + self.limits.idle_s:
            connection.fail(WireFault.TIMEOUT_IDLE)


class Upstream:
    """Sends attempts. Failures come back as values, never as exceptions."""

    def __init__(self, pool: ConnectionPool, watchdog: Watchdog) -> None:
        self._pool, self._watchdog = pool, watchdog

    async def send(self, provider: Provider, request: bytes, attempt: Attempt) -> WireFailure | None:
        """Send `request` and wait until the attempt's answer is done.

        A pooled connection that turns out to have been closed meanwhile, without one byte of an answer, is replaced by
        a new one, once: that is not another attempt and says nothing about the target (F-08).
        """
        answer = attempt.answer
        connection = self._pool.reuse(provider)
        is_reused = connection is not None
        while True:
            if connection is None:
                now = asyncio.get_running_loop().time()
                try:
                    connection = await self._pool.connect(
                        provider.origin, min(attempt.limits.connect_s, attempt.deadline - now)
                    )
                except ConnectError as error:
                    return error.failure
            answer.bind(connection)
            self._watchdog.watch(attempt)
            try:
                connection.begin(answer, request)
                attempt.connection = connection
                attempt.first_content_at = connection.last_read_at + attempt.limits.first_content_s
                failure = await answer.done
            finally:  # also when the caller is gone: closing is synchronous, nothing is awaited between
                self._watchdog.unwatch(attempt)
                self._pool.release(provider, connection, provider.idle_connection_s)
            if failure is None or failure.fault is not WireFault.CLOSED or not is_reused:
                return failure
            connection, is_reused = None, False
