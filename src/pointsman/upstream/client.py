"""One attempt over one connection: connect or reuse, send, never lose track of the socket."""

import asyncio
from typing import Protocol

from pointsman.domain.target import Provider
from pointsman.http1.client import Receiver, WireFailure, WireFault
from pointsman.http1.limits import AttemptLimits
from pointsman.http1.pool import ConnectError, ConnectionPool
from pointsman.http1.reply import ReadFlow


class Answer(Receiver, Protocol):
    """Takes what comes back."""

    def bind(self, flow: ReadFlow, done: "asyncio.Future[WireFailure | None]") -> None:
        """The connection the answer comes over, and what to settle; called anew when the request is sent anew.

        Settled with None: the message is complete, or the answer has seen enough.
        """
        ...


class Upstream:
    """Sends attempts. Failures come back as values, never as exceptions."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pool: ConnectionPool) -> None:
        self._loop, self._pool = loop, pool

    async def send(
        self, provider: Provider, request: bytes, answer: Answer, limits: AttemptLimits, deadline: float
    ) -> WireFailure | None:
        """Send `request` and wait until the answer is done, at most until `deadline` (monotonic seconds of the loop).

        A pooled connection that turns out to have been closed meanwhile, without one byte of an answer, is replaced by
        a new one, once: that is not another attempt and says nothing about the target (F-08).
        """
        connection = self._pool.reuse(provider)
        is_reused = connection is not None
        while True:
            if connection is None:
                left_s = deadline - self._loop.time()
                try:
                    connection = await self._pool.connect(provider.origin, min(limits.connect_s, left_s))
                except ConnectError as error:
                    return error.failure
            done: asyncio.Future[WireFailure | None] = self._loop.create_future()
            answer.bind(connection, done)
            try:
                connection.begin(answer, request, limits, deadline)
                failure = await done
            finally:  # also when the caller is gone: closing is synchronous, nothing is awaited between
                self._pool.release(provider, connection, provider.idle_connection_s)
            if failure is None or failure.fault is not WireFault.CLOSED or not is_reused:
                return failure
            connection, is_reused = None, False
