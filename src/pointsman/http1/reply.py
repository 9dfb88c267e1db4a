"""One answer to one request: the only way anything is written to a caller."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol

_STATUS_LINE: dict[int, bytes] = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}


def status_line(status: int) -> bytes:
    """The first line of a response; a status without a registered phrase gets an empty one."""
    return _STATUS_LINE.get(status) or b"HTTP/1.1 %d \r\n" % status


class ReadFlow(Protocol):
    """The source of a streamed answer: held while the caller does not read."""

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Wire(Protocol):
    """What a reply needs of its connection: a transport fits."""

    def write(self, data: bytes) -> None: ...
    def abort(self) -> None: ...


class Dated(Protocol):
    """Who knows the time."""

    date_line: bytes  # the Date header, with its line end


class Reply:
    """Written once, in order: `send`, or `start`, `write` ..., `finish`.

    After the caller is gone every call does nothing, so nobody has to ask first.
    """

    __slots__ = (
        "_dated", "_has_body", "_is_chunked", "_is_http_1_0", "_wire", "bytes_sent", "flow", "is_finished", "is_gone",
        "is_started", "keep_alive", "on_quiet", "status",
    )  # fmt: skip

    def __init__(
        self,
        wire: Wire,
        dated: Dated,
        keep_alive: bool,  # noqa: FBT001  # by position, as the others: one is made per request
        has_body: bool = True,  # noqa: FBT001, FBT002
        is_http_1_0: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        self._wire, self._dated = wire, dated
        self.keep_alive, self._has_body, self._is_http_1_0 = keep_alive, has_body, is_http_1_0
        self.status = self.bytes_sent = 0  # of the head that was sent; of the body
        self.is_started = self.is_finished = self.is_gone = self._is_chunked = False
        self.flow: ReadFlow | None = None
        self.on_quiet: Callable[[], None] | None = None  # called while nothing was written for a while

    def send(self, status: int, headers: bytes, body: bytes) -> None:
        """A whole answer. `headers` are complete lines without any framing header."""
        if self.is_gone:
            return
        length = len(body)
        self.is_started, self.status, self.bytes_sent = True, status, length
        connection = b"" if self.keep_alive and not self._is_http_1_0 else self._connection_line()
        first = status_line(status)
        sent = body if self._has_body else b""
        self._wire.write(
            b"%b%b%b%bcontent-length: %d\r\n\r\n%b" % (first, self._dated.date_line, headers, connection, length, sent)
        )
        self.is_finished = True

    def start(self, status: int, headers: bytes) -> None:
        """The head of an answer whose length is not known."""
        if self.is_gone:
            return
        self.is_started, self.status = True, status
        self._is_chunked = not self._is_http_1_0
        if self._is_http_1_0:
            self.keep_alive = False  # the end of the connection is the end of the body
        framing = b"transfer-encoding: chunked\r\n\r\n" if self._is_chunked else b"\r\n"
        self._wire.write(status_line(status) + self._dated.date_line + headers + self._connection_line() + framing)

    def write(self, data: bytes) -> None:
        """The next bytes of a started answer; never called with none."""
        if self.is_gone:
            return
        self.bytes_sent += len(data)
        self._wire.write(b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    def finish(self) -> None:
        """The clean end of a started answer."""
        if self.is_gone:
            return
        if self._is_chunked:
            self._wire.write(b"0\r\n\r\n")
        self.is_finished = True

    def abort(self) -> None:
        """Cut the connection: the only honest end of an answer that cannot carry an error any more."""
        if not self.is_gone:
            self._wire.abort()

    def _connection_line(self) -> bytes:
        if not self.keep_alive:
            return b"connection: close\r\n"
        return b"connection: keep-alive\r\n" if self._is_http_1_0 else b""
