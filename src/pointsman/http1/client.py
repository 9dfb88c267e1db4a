"""One connection to an upstream: writes a request, hands what llhttp makes of the answer to a receiver."""

import asyncio
import select
from enum import StrEnum
from typing import Protocol, cast

import httptools

from pointsman.domain.value import Value
from pointsman.http1.limits import AttemptLimits, UpstreamLimits, Watchdog
from pointsman.http1.response_head import HEAD_END, ResponseHead, read_response_head


class WireFault(StrEnum):
    """How an exchange with an upstream fails below the meaning of its bytes."""

    CONNECT_REFUSED = "connect_refused"
    CONNECT_TIMEOUT = "connect_timeout"
    DNS = "dns"
    DENIED = "address_denied"
    TLS = "tls"
    UNREACHABLE = "unreachable"
    CLOSED = "closed"  # before the first byte of an answer
    TRUNCATED = "truncated"
    PROTOCOL = "protocol"
    TOO_LARGE = "too_large"
    TIMEOUT_FIRST_CONTENT = "timeout_first_content"
    TIMEOUT_IDLE = "timeout_idle"
    TIMEOUT_TOTAL = "timeout_total"


class WireFailure(Value):
    """A fault and how far the answer had come."""

    fault: WireFault
    got_bytes: bool = False


class Receiver(Protocol):
    """Takes one answer, piece by piece, inside `data_received`: it must not block or raise."""

    has_content: bool  # until then the limit is the one for the first content

    def on_head(self, head: ResponseHead) -> None: ...
    def on_data(self, data: bytes) -> None: ...
    def on_end(self) -> None:
        """The message is complete by the rules of HTTP."""
        ...

    def on_failure(self, failure: WireFailure) -> None: ...


class UpstreamConnection(asyncio.Protocol):
    """Carries one exchange at a time. `is_reusable` is the only word on whether it may go back to a pool."""

    _transport: asyncio.Transport  # from connection_made on
    _attempt: AttemptLimits  # from begin on
    _began_at = 0.0  # monotonic seconds of the loop
    _deadline = 0.0

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: UpstreamLimits, watchdog: Watchdog) -> None:
        self._loop, self._limits, self._watchdog = loop, limits, watchdog
        self._receiver: Receiver | None = None  # None: idle, or the exchange is over
        self._parser = httptools.HttpResponseParser(self)
        self._poll = select.poll()
        self._head = b""  # of the answer, interim ones included, until its body begins
        self._head_at = 0  # where the head that is not read yet begins in it
        self._framing_bytes = self._interim = 0  # bytes since the last one of a body; interim answers
        self._in_body = False
        self._ends_with_connection = False  # neither length nor chunks: the close is the end
        self._is_made = False
        self._is_done = True
        self._is_spoiled = False  # bytes arrived that nobody asked for, or something failed
        self._keep_alive = True
        self.got_bytes = False  # of the current answer
        self.last_read_at = 0.0
        self.is_reading_paused = False
        self.idle_until = 0.0  # while pooled

    # --- called by whoever sends

    def begin(self, receiver: Receiver, request: bytes, limits: AttemptLimits, deadline: float) -> None:
        """Send `request`; everything that comes back until `deadline` (of the loop's clock) goes to `receiver`."""
        if self._transport.is_closing():  # lost since it was handed out
            receiver.on_failure(WireFailure(WireFault.CLOSED))
            return
        self._receiver = receiver
        self._head, self._head_at = b"", 0
        self._framing_bytes = self._interim = 0
        self._in_body = self._ends_with_connection = self.got_bytes = self._is_done = False
        self._attempt, self._deadline = limits, deadline
        self._began_at = self.last_read_at = self._loop.time()
        self._transport.write(request)

    @property
    def is_reusable(self) -> bool:
        """Nothing is pending, nothing was left over, and both sides want to keep it."""
        return self._is_done and self._keep_alive and not self._is_spoiled and not self._transport.is_closing()

    def has_unread_bytes(self) -> bool:
        """Something arrived since the loop last looked: a farewell, or the close, and never for the next caller."""
        return bool(self._poll.poll(0))

    def abandon(self) -> None:
        """Whoever wanted the connection has left while it was made: close it, now or as soon as it is there."""
        self._is_spoiled = True
        if self._is_made:
            self._watchdog.unwatch(self)  # uvloop says nothing of the end of a connection it was still making
            self._transport.abort()

    def abort(self) -> None:
        """Close at once; the receiver hears nothing any more."""
        self._receiver, self._is_spoiled = None, True
        self._transport.abort()

    def fail(self, fault: WireFault) -> None:
        """Close at once and tell the receiver why."""
        receiver, self._receiver, self._is_spoiled = self._receiver, None, True
        self._transport.abort()
        if receiver is not None:
            receiver.on_failure(WireFailure(fault, self.got_bytes))

    def pause_reading(self) -> None:
        if self._receiver is None:
            return  # the answer has ended: whoever uses the connection next must not be held by its last caller
        self.is_reading_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self.is_reading_paused = False
        self.last_read_at = self._loop.time()
        self._transport.resume_reading()

    # --- called by the watchdog

    def check(self, now: float) -> None:
        """End the exchange if one of its deadlines has passed; they are armed by assignment, without a timer."""
        receiver = self._receiver
        if receiver is None:
            return
        if now >= self._deadline:
            self.fail(WireFault.TIMEOUT_TOTAL)
        elif not receiver.has_content:
            if now >= self._began_at + self._attempt.first_content_s:
                self.fail(WireFault.TIMEOUT_FIRST_CONTENT)
        elif not self.is_reading_paused and now >= self.last_read_at + self._attempt.idle_s:
            self.fail(WireFault.TIMEOUT_IDLE)

    # --- called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._is_made = cast("asyncio.Transport", transport), True
        self.last_read_at = self._loop.time()
        self._watchdog.watch(self)
        if self._is_spoiled:
            self._transport.abort()
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self._receiver is None:  # an idle connection has nothing to say: never hand it to the next caller
            self.abort()
            return
        self.got_bytes = True
        self.last_read_at = self._loop.time()
        self._framing_bytes += len(data)
        if not self._in_body:
            self._head += data
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):  # siblings, not parent and child
            self.fail(WireFault.PROTOCOL)
            return
        if self._framing_bytes > self._limits.head_bytes:  # a head or trailers without end
            self.fail(WireFault.PROTOCOL)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._watchdog.unwatch(self)
        receiver, self._receiver, self._is_spoiled = self._receiver, None, True
        if receiver is None:
            return
        if self._ends_with_connection and exc is None:
            receiver.on_end()
        else:
            fault = WireFault.TRUNCATED if self.got_bytes else WireFault.CLOSED
            receiver.on_failure(WireFailure(fault, self.got_bytes))

    # --- called by llhttp

    def on_message_begin(self) -> None:
        self._is_spoiled = self._is_spoiled or self._is_done  # a second answer to one request

    def on_headers_complete(self) -> None:
        end = self._head.find(HEAD_END, self._head_at)
        head = None
        if end >= 0:
            raw, self._head_at = self._head[self._head_at : end + 2], end + 4
            head = read_response_head(self._parser.get_status_code(), raw, self._limits)
        if head is None:
            self.fail(WireFault.PROTOCOL)
        elif head.status < 200:
            self._on_interim(head.status)
        elif self._receiver is not None:
            self._in_body = True
            self._keep_alive = self._parser.should_keep_alive()
            self._ends_with_connection = not self._keep_alive and not head.has_length
            self._receiver.on_head(head)

    def on_body(self, data: bytes) -> None:
        self._framing_bytes = 0
        if self._receiver is not None:
            self._receiver.on_data(data)

    def on_message_complete(self) -> None:
        if not self._in_body:
            return  # an interim response
        self._is_done = True
        receiver, self._receiver = self._receiver, None
        if self.is_reading_paused:
            self.resume_reading()  # nothing of this answer is left to hold back, and the next one must be heard
        if receiver is not None:
            receiver.on_end()

    # --- rules

    def _on_interim(self, status: int) -> None:
        self._interim += 1
        if status == 101 or self._interim > self._limits.interim_responses:
            self.fail(WireFault.PROTOCOL)
