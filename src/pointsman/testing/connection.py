"""The server side of one connection: answers requests one after the other, notices a peer that goes away."""

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Protocol, cast

import msgspec

from pointsman.testing import chat
from pointsman.testing.player import Player, reset
from pointsman.testing.reader import MalformedRequestError, Message, RequestReader
from pointsman.testing.received import Received
from pointsman.testing.script import End, Step, head

_MALFORMED_BODY = msgspec.json.encode(chat.error(400, "the request is not valid HTTP"))
_MALFORMED_HEADERS = (
    ("content-type", "application/json"),
    ("content-length", str(len(_MALFORMED_BODY))),
    ("connection", "close"),
)
MALFORMED = head(400, _MALFORMED_HEADERS) + _MALFORMED_BODY


class Host(Protocol):
    """What a connection needs of its provider."""

    idle_s: float | None

    def opened(self, connection: "Connection") -> int:
        """Register; returns the connection's number."""
        ...

    def lost(self, connection: "Connection") -> None:
        """Forget it."""
        ...

    def received(self, message: Message, connection: int) -> Received:
        """Enter a complete request in the log."""
        ...

    def steps_for(self, received: Received) -> Iterator[Step]:
        """The answer to a request whose turn it is."""
        ...

    def peer_left(self, received: Received) -> None:
        """The peer went away while this request waited for the end of its answer."""
        ...


class Connection(asyncio.Protocol):
    """One accepted socket."""

    def __init__(self, host: Host) -> None:
        self.is_lost = asyncio.Event()
        self._host = host
        self._reader = RequestReader(self._requested)
        self._waiting: deque[Received] = deque()  # pipelined behind the one in progress
        self._current: Received | None = None
        self._player: Player | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Close at once, from our side: the requests in progress do not count as left by the peer."""
        self._forget_requests()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of asyncio's protocol."""
        self._transport = cast("asyncio.Transport", transport)
        # As Player wants it; TLS transports pause at `high` already, so that 0 would pause them with nothing to send.
        is_tls = self._transport.get_extra_info("sslcontext") is not None
        self._transport.set_write_buffer_limits(high=1 if is_tls else 0, low=0)
        self._number = self._host.opened(self)
        self._watch_idleness()

    def data_received(self, data: bytes) -> None:
        """Part of asyncio's protocol."""
        self._stop_idle_timer()
        try:
            self._reader.feed(data)
        except MalformedRequestError:
            self._forget_requests()
            self._transport.write(MALFORMED)
            self._transport.close()

    def eof_received(self) -> None:
        """Part of asyncio's protocol. A peer that half-closes counts as gone: asyncio then closes our side too."""
        self._peer_left()

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of asyncio's protocol."""
        del exc  # how it was lost makes no difference here
        self._stop_idle_timer()
        self._peer_left()
        self._host.lost(self)
        self.is_lost.set()

    def pause_writing(self) -> None:
        """Part of asyncio's protocol."""
        if self._player is not None:
            self._player.pause()

    def resume_writing(self) -> None:
        """Part of asyncio's protocol."""
        if self._player is not None:
            self._player.resume()

    def _requested(self, message: Message) -> None:
        if self._transport.is_closing():
            return  # pipelined behind a request whose answer closed the connection
        self._waiting.append(self._host.received(message, self._number))
        if self._current is None:
            self._answer_next()

    def _answer_next(self) -> None:
        self._current = self._waiting.popleft()
        self._player = Player(self._transport, self._host.steps_for(self._current), self._finished)
        self._player.play()

    def _finished(self, end: End) -> None:
        """The last byte of the current answer has left."""
        if end is End.STALL or self._current is None:
            return
        answered, self._current = self._current, None
        answered.answered = True
        if end is End.RESET:
            self._forget_requests()
            reset(self._transport)
        elif end is End.CLOSE or answered.is_last:
            self._forget_requests()
            self._transport.close()
        elif self._waiting:
            self._answer_next()
        else:
            self._watch_idleness()

    def _peer_left(self) -> None:
        unanswered = [] if self._current is None else [self._current]
        for received in (*unanswered, *self._waiting):
            self._host.peer_left(received)
        self._forget_requests()

    def _forget_requests(self) -> None:
        if self._player is not None:
            self._player.stop()
        self._current = None
        self._waiting.clear()

    def _watch_idleness(self) -> None:
        if self._host.idle_s is not None:
            self._idle_timer = asyncio.get_running_loop().call_later(self._host.idle_s, self._transport.close)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
