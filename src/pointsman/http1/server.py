"""The edge: callers' connections, read strictly, bounded in time and size, answered through `Reply`."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Sequence
from email.utils import formatdate
from typing import Any, cast

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.crowd import ProbesOnly, surplus, too_many
from pointsman.http1.door import Door, Request
from pointsman.http1.head import RequestHead
from pointsman.http1.limits import EdgeLimits, Watchdog
from pointsman.http1.reply import Reply
from pointsman.http1.request_reader import ReadPhase, RequestReader

log = logging.getLogger(__name__)

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_NEVER = float("inf")
OVERDUE = "overdue"  # why a handler is cancelled, if not because its caller has left or the server stops
_LONGEST_LOOK_S = 60.0  # between two looks at an answer
_LOOKS_PER_SILENCE = 8  # so that a comment comes an eighth late at most; more of them would find nothing new
_ACCEPTED_AT_ONCE = 1024  # as many as may wait
_LOOK_S = 1.0  # between two looks at who has come: 10,000 connections cost 3 ms then


class EdgeServer:
    """Listens, and owns every connection of callers."""

    def __init__(self, door: Door, limits: EdgeLimits, watchdog: Watchdog) -> None:
        self.door, self.limits, self.watchdog = door, limits, watchdog
        self.narrow_door = ProbesOnly(door)
        self.connections: set[EdgeConnection] = set()
        self._receiving: set[EdgeConnection] = set()  # bodies; some may be complete by now
        self.is_draining = False
        self.is_closed_to_new = False  # but for probes
        self.longest_request_s = _NEVER  # that any handler may take
        self.overdue = 0  # requests that took longer
        self._is_hurried = False
        self.date_line = b""
        self._server: asyncio.Server | None = None
        self._listening: list[socket.socket] = []
        self._accepting: set[asyncio.Task[Any]] = set()
        self._next_look_at = 0.0

    async def start(self, host: str, port: int) -> None:
        """Bind and accept. Raises OSError when the address cannot be bound."""
        self.check(0.0)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: EdgeConnection(self, loop), host, port, backlog=1024)
        for listening in _sockets(self._server):  # accepted ones inherit it
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.send_buffer_bytes)
            self._listening.append(socket.socket(fileno=os.dup(listening.fileno())))
        self.watchdog.watch(self)

    @property
    def port(self) -> int:
        """The bound port, also when port 0 was asked for."""
        if self._server is None:
            raise RuntimeError("the edge has not been started")
        return int(_sockets(self._server)[0].getsockname()[1])

    def check(self, now: float) -> None:
        """Watchdog: one Date header a second is enough for everybody; strangers that are too many make room."""
        self._accept_waiting()
        self.date_line = b"date: %b\r\n" % formatdate(time.time(), usegmt=True).encode()
        per_address = self.limits.strangers_per_address
        if per_address is not None and len(self.connections) > per_address and now >= self._next_look_at:
            self._next_look_at = now + _LOOK_S
            for connection in surplus([each for each in self.connections if each.is_stranger(now)], per_address):
                connection.abort()

    def _accept_waiting(self) -> None:
        """Accept everybody who waits.

        The loop accepts one connection per turn: when turns are long, probes would wait behind hundreds of others.
        """
        for listening in self._listening:
            for _ in range(_ACCEPTED_AT_ONCE):
                try:
                    accepted, _ = listening.accept()
                except OSError:  # none is left, it has gone already, or descriptors have run out
                    break
                self._take(accepted)

    def _take(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        accepted.setblocking(False)
        taking = loop.create_task(loop.connect_accepted_socket(lambda: EdgeConnection(self, loop), accepted))
        self._accepting.add(taking)
        taking.add_done_callback(self._taken)

    def _taken(self, taking: asyncio.Task[Any]) -> None:
        self._accepting.discard(taking)
        if not taking.cancelled():
            taking.exception()  # whoever has left meanwhile is no fault

    def expected_bytes(self, connection: "EdgeConnection") -> int:
        """Of all bodies that are still to come, the one of `connection` included."""
        self._receiving.add(connection)
        self._receiving = {each for each in self._receiving if each.missing_bytes}
        return sum([each.missing_bytes for each in self._receiving])

    def forget(self, connection: "EdgeConnection") -> None:
        self.connections.discard(connection)
        self._receiving.discard(connection)
        self.watchdog.unwatch(connection)

    async def drain(self, grace_s: float) -> None:
        """Stop accepting, let running requests end within `grace_s`, then end the rest with an error."""
        self.is_draining = True
        if self._server is not None:
            self._server.close()
        for listening in self._listening:
            listening.close()
        self._listening.clear()
        for connection in tuple(self.connections):
            connection.close_when_idle()
        await self._emptied(grace_s)
        self._is_hurried = False
        for connection in tuple(self.connections):
            connection.interrupt()
        await self._emptied(1.0)  # an error event needs one turn of the loop, not a second
        for connection in tuple(self.connections):
            connection.abort()
        self.watchdog.unwatch(self)

    def hurry(self) -> None:
        """The drain time is over now."""
        self._is_hurried = True

    async def _emptied(self, within_s: float) -> None:
        end = time.monotonic() + within_s
        while self.connections and not self._is_hurried and time.monotonic() < end:
            await asyncio.sleep(0.02)


class EdgeConnection(asyncio.Protocol):
    """One connection of a caller; one request at a time, all handled by one task.

    A task per request would cost more than many of the things it does: the loop keeps a register of them.
    """

    _transport: asyncio.Transport  # from connection_made on
    _task: asyncio.Task[None]
    _is_local: bool
    address: str  # of the peer

    def __init__(self, server: EdgeServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server, self._loop, self._limits = server, loop, server.limits
        self._door: Door = server.door
        self.made_at = loop.time()
        self._is_known = False
        self._reader = RequestReader(server.limits.body_bytes)
        self._received_at = 0.0
        self._due_at = _NEVER  # of what is being read, or of keep-alive
        self._look_s = min(_LONGEST_LOOK_S, server.limits.stream_keepalive_s / _LOOKS_PER_SILENCE)
        self._quiet_since = 0.0
        self._quiet_bytes = -1  # of the answer that were sent at the last look; -1: there was none yet
        self._write_due_at = _NEVER  # while the caller does not read
        self._unsent_bytes = 0
        self._lingered_bytes = -1  # from 0 on: an error is on its way, what still arrives is thrown away
        self._arrival: asyncio.Future[tuple[Request, Reply]] = loop.create_future()  # of the next request
        self._reply: Reply | None = None  # of the request that is being handled

    # --- called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.address = _address(transport)
        self._is_local = _is_local(self.address)
        self._transport.set_write_buffer_limits(high=self._limits.write_buffer_bytes)
        self._server.connections.add(self)
        self._server.watchdog.watch(self)
        self._due_at = self._loop.time() + self._limits.head_s
        self._task = self._loop.create_task(self._serve())
        over = len(self._server.connections) - self._limits.connections
        if over > self._limits.reserved:
            self._say(too_many())
            self._close()  # at once: to linger would keep what there is too little of
        elif over > 0 or self._server.is_closed_to_new:
            self._door = self._server.narrow_door
            self._due_at = self._loop.time() + self._limits.reserved_s

    def data_received(self, data: bytes) -> None:
        if self._reply is not None:
            self._read_ahead(data)
        elif self._lingered_bytes >= 0:
            self._linger(len(data))
        elif self._is_caller_behind():
            self._read_ahead(data)
        else:
            self._read(data)

    def eof_received(self) -> bool:
        """A half-close counts as leaving: no client of an LLM API sends one and then waits."""
        if self._reply is not None:
            self._transport.abort()  # closing would first wait for the caller to read what nobody waits for
        else:
            self._close()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.forget(self)
        self._reader.drop()  # its connection is part of a cycle, which may be found much later
        if self._reply is not None:
            self._reply.is_gone = True
        self._task.cancel()

    def pause_writing(self) -> None:
        self._watch_writing()
        if self._reply is not None and self._reply.flow is not None:
            self._reply.flow.pause_reading()

    def resume_writing(self) -> None:
        if self._transport.is_closing():
            return  # what is left must go, too
        self._write_due_at = _NEVER
        if self._reply is None:
            self._loop.call_soon(self._take_next)
        elif self._reply.flow is not None:
            self._reply.flow.resume_reading()

    def abort(self) -> None:
        self._transport.abort()

    # --- called by the server and its watchdog

    @property
    def missing_bytes(self) -> int:
        """Of the body that is being read."""
        return 0 if self._lingered_bytes >= 0 else self._reader.missing_bytes

    def check(self, now: float) -> None:
        """Watchdog: deadlines of head, body, keep-alive and linger, and of a caller that does not read."""
        if now >= self._write_due_at:
            self._on_write_due(now)
        elif now >= self._due_at:
            self._on_due(now)

    def is_stranger(self, now: float) -> bool:
        """Here for long enough to show a key, and has not shown one."""
        if self._is_known or self._reply is not None or now < self.made_at + self._limits.stranger_s:
            return False
        head = self._reader.last_head
        self._is_known = head is not None and self._server.door.knows(head)
        return not self._is_known

    def close_when_idle(self) -> None:
        """The server drains: close after the request that runs or arrives, or now if there is none."""
        if self._reply is not None:
            self._reply.keep_alive = False
        elif self._reader.phase is ReadPhase.IDLE or self._lingered_bytes >= 0:
            self._close()

    def interrupt(self) -> None:
        """The drain time is over: the handler ends the answer with an error."""
        if self._reply is not None:
            self._task.cancel()

    # --- reading

    def _read(self, data: bytes) -> None:
        before = self._reader.phase
        try:
            request = self._reader.feed(data)
        except GatewayError as error:
            self._refuse(error)
            return
        if before is ReadPhase.IDLE:
            self._received_at = self._loop.time()
        if request is not None:
            self._handle_next(*request, before is ReadPhase.BODY)
        elif self._reader.phase is not before:
            self._arm(self._reader.phase)

    def _arm(self, phase: ReadPhase) -> None:
        """The deadline of the phase just entered: absolute, so that a dripper cannot extend it."""
        head = self._reader.head
        if phase is ReadPhase.BODY and head is not None:
            try:
                self._door.admit(head, self._server.expected_bytes(self))
            except GatewayError as error:
                self._refuse(error)
                return
            length = None if head.is_chunked else head.content_length
            self._due_at = self._loop.time() + self._limits.body_deadline_s(length)
            if head.expects_continue:
                self._transport.write(_CONTINUE)
        elif phase is ReadPhase.HEAD:
            self._due_at = self._received_at + self._limits.head_s

    def _read_ahead(self, data: bytes) -> None:
        """A pipelined request waits for the answer before it; a sender of too much is paused."""
        self._reader.hold(data)
        if self._reader.held_bytes > self._limits.pipelined_bytes:
            self._transport.pause_reading()

    def _is_caller_behind(self) -> bool:
        """A caller that does not read its answers gets no further ones: they would pile up here."""
        return self._write_due_at != _NEVER

    def _take_next(self) -> None:
        """The request that was sent ahead, if there is one; more are read only once there is room for them."""
        if self._is_busy() or self._lingered_bytes >= 0 or self._transport.is_closing():
            return
        if self._reader.held_bytes:
            self._read(b"")
        if not self._is_busy() or self._reader.held_bytes <= self._limits.pipelined_bytes:
            self._transport.resume_reading()

    def _look_at(self, reply: Reply, now: float) -> None:
        """Whether an answer has been silent for so long that its caller may doubt it, or takes longer than any may."""
        if now >= self._received_at + self._server.longest_request_s + self._limits.overdue_s:
            self._end_overdue(reply, now)
        elif self._quiet_bytes != reply.bytes_sent or self._is_caller_behind():
            self._quiet_since = now if self._quiet_bytes >= 0 else self._received_at
        elif reply.on_quiet is not None and now >= self._quiet_since + self._limits.stream_keepalive_s:
            reply.on_quiet()
            self._quiet_since = now
        self._quiet_bytes, self._due_at = reply.bytes_sent, now + self._look_s

    def _end_overdue(self, reply: Reply, now: float) -> None:
        """All waits are bounded, so this is never needed; if it is, whatever the request holds must be free again."""
        self._server.overdue += 1
        age_s = round(now - self._received_at)
        log.error("a request outlived its deadline and is ended", extra={"fields": {"age_s": age_s}})
        reply.keep_alive = False
        self._task.cancel(OVERDUE)

    def _is_busy(self) -> bool:
        return self._reply is not None

    # --- handling

    def _handle_next(self, head: RequestHead, body: bytes, is_admitted: bool) -> None:  # noqa: FBT001
        self._due_at, self._quiet_bytes = self._received_at + self._look_s, -1
        keep_alive = head.keep_alive and not self._server.is_draining
        reply = Reply(self._transport, self._server, keep_alive, head.method != "HEAD", head.is_http_1_0)
        self._reply = reply
        self._arrival.set_result((Request(head, body, self._received_at, self._is_local, is_admitted), reply))

    async def _serve(self) -> None:
        """Handle one request after the other until the task is cancelled."""
        while True:
            request, reply = await self._arrival
            self._arrival = self._loop.create_future()
            try:
                await self._door(request, reply)
            except Exception:
                log.exception("a request handler failed")
            finally:
                self._reply = None
                if not reply.is_gone:
                    self._after(reply)
            del request, reply  # an idle connection keeps no body

    def _after(self, reply: Reply) -> None:
        if not reply.is_started:  # a fault of ours
            self._refuse(GatewayError(ErrorKind.INTERNAL, "The gateway failed to answer; its log says why."))
        elif not reply.is_finished:
            self._transport.abort()  # a cut, which no client takes for an end
        elif not reply.keep_alive:
            self._close()
        else:
            self._due_at = self._loop.time() + self._limits.keep_alive_s
            if self._reader.held_bytes and not self._is_caller_behind():
                self._take_next()

    # --- ends

    def _refuse(self, error: GatewayError) -> None:
        """Answer with an error outside any handler, and close once the caller had time to read it."""
        self._say(error)
        self._lingered_bytes = 0
        self._due_at = self._loop.time() + self._limits.linger_s
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _say(self, error: GatewayError) -> None:
        rendered = self._server.door.render_error(error, self._reader.head, is_local=self._is_local)
        Reply(self._transport, self._server, keep_alive=False).send(*rendered)

    def _linger(self, length: int) -> None:
        """Closing with unread bytes would reset the connection and take the error away from the caller."""
        self._lingered_bytes += length
        if self._lingered_bytes > self._limits.linger_bytes:
            self._close()

    def _on_due(self, now: float) -> None:
        if self._reply is not None:
            self._look_at(self._reply, now)
        elif self._lingered_bytes < 0 and self._reader.phase is not ReadPhase.IDLE:
            self._refuse(GatewayError(ErrorKind.REQUEST_TIMEOUT, "The request took too long to arrive."))
        else:
            self._close()

    def _close(self) -> None:
        """Close once everything is sent; a caller that takes nothing of it is waited for as long as any other."""
        self._due_at = _NEVER
        self._watch_writing()
        self._transport.close()

    def _watch_writing(self) -> None:
        self._write_due_at = self._loop.time() + self._limits.write_idle_s
        self._unsent_bytes = self._transport.get_write_buffer_size()

    def _on_write_due(self, now: float) -> None:
        """Progress extends the time; none at all ends the connection."""
        unsent = self._transport.get_write_buffer_size()
        if unsent < self._unsent_bytes:
            self._unsent_bytes, self._write_due_at = unsent, now + self._limits.write_idle_s
        else:
            self._transport.abort()


def _sockets(server: Any) -> Sequence[socket.socket]:
    """Where a server listens: uvloop has a list of them, asyncio a tuple, and compiled code insists on its types."""
    return cast("Sequence[socket.socket]", server.sockets)


def _address(transport: asyncio.BaseTransport) -> str:
    """Of the peer; empty if it has left already."""
    return str((transport.get_extra_info("peername") or ("",))[0])


def _is_local(address: str) -> bool:
    """Whether it is of this machine."""
    return address.startswith("127.") or address == "::1"
