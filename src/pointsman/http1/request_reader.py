"""Bytes of a caller's connection become complete requests: fed, never reading itself (pure)."""

import re
from enum import Enum, auto

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.chunked import ChunkDecoder
from pointsman.http1.head import HEAD_END, MAX_HEAD_BYTES, RequestHead, parse_request_head
from pointsman.http1.head_template import HeadTemplate, template_of


class ReadPhase(Enum):
    """What the next bytes belong to."""

    IDLE = auto()  # between requests
    HEAD = auto()
    BODY = auto()


_NOTHING_OR_CR = (b"", b"\r")
_EMPTY_LINES = re.compile(rb"\A(?:\r\n)++")
_IDLE = ReadPhase.IDLE  # an attribute of an enumeration is searched for each time


class RequestReader:
    """Reads one request after the other; bytes of the next one wait until it is asked for."""

    def __init__(self, body_limit_bytes: int) -> None:
        self._body_limit_bytes = body_limit_bytes
        self._buffer = b""
        self._parts: list[bytes] = []
        self._body_bytes = 0
        self._chunks: ChunkDecoder | None = None
        self._template: HeadTemplate | None = None  # the last head, which the next one mostly repeats
        self.phase = ReadPhase.IDLE
        self.last_head: RequestHead | None = None  # that did not repeat the one before it, but for its length
        self.head: RequestHead | None = None  # of the request whose body is being read

    @property
    def held_bytes(self) -> int:
        """Bytes of the next request that were sent ahead."""
        return len(self._buffer)

    @property
    def missing_bytes(self) -> int:
        """Bytes of the body that are still to come; of one without a length as many as it may have."""
        if self.head is None:
            return 0
        return (self._body_limit_bytes if self.head.is_chunked else self.head.content_length) - self._body_bytes

    def hold(self, data: bytes) -> None:
        """Keep bytes that arrive while a request is being handled."""
        self._buffer += data

    def drop(self) -> None:
        """Keep nothing of a request that will never be complete."""
        self._buffer, self._parts = b"", []

    def feed(self, data: bytes) -> tuple[RequestHead, bytes] | None:
        """The request that `data` completes, with its body; None: more is needed.

        Raises GatewayError for anything that is not exactly a request; the connection is of no use afterwards.
        """
        if self.head is not None:
            return self._read_body(self.head, data)
        if self._buffer:
            data, self._buffer = self._buffer + data, b""
        if data[:1] in _NOTHING_OR_CR:
            data = _EMPTY_LINES.sub(b"", data)  # RFC 9112 2.2: empty lines before a request are allowed
            if not data:
                self.phase = _IDLE
                return None
        found = self._template.fit(data) if self._template is not None else None
        if found is None and (found := self._read_head(data)) is None:
            self._wait_for_head(data)
            return None
        head, body_at = found
        length = head.content_length
        if len(data) == body_at + length and not head.is_chunked and length <= self._body_limit_bytes:
            self.phase = _IDLE  # the usual case: a whole request and nothing else in one read
            return head, data[body_at:]
        return self._begin_body(head, data[body_at:])

    def _read_head(self, data: bytes) -> tuple[RequestHead, int] | None:
        """The head that `data` begins with, and where it ends; it is the template for the next one."""
        end = data.find(HEAD_END, 0, MAX_HEAD_BYTES)
        if end < 0:
            return None
        raw = data[: end + 4]
        head = self.last_head = parse_request_head(raw)
        self._template = template_of(raw, head)
        return head, len(raw)

    def _wait_for_head(self, data: bytes) -> None:
        self.phase = ReadPhase.HEAD
        if len(data) >= MAX_HEAD_BYTES:
            raise GatewayError(ErrorKind.HEADERS_TOO_LARGE, f"The head is larger than {MAX_HEAD_BYTES} bytes.")
        self._buffer = data

    def _begin_body(self, head: RequestHead, rest: bytes) -> tuple[RequestHead, bytes] | None:
        length = head.content_length
        if length > self._body_limit_bytes:
            self.head = head
            raise self._too_large()
        if not head.is_chunked and len(rest) >= length:  # the usual case: head and body in one read
            return self._complete(head, rest[:length], rest[length:])
        self.head, self.phase = head, ReadPhase.BODY
        self._chunks = ChunkDecoder() if head.is_chunked else None
        return self._read_body(head, rest) if rest else None

    def _read_body(self, head: RequestHead, data: bytes) -> tuple[RequestHead, bytes] | None:
        if self._chunks is not None:
            return self._read_chunks(head, self._chunks, data)
        missing = head.content_length - self._body_bytes
        self._add(data[:missing])
        if len(data) < missing:
            return None
        return self._complete(head, b"".join(self._parts), data[missing:])

    def _read_chunks(self, head: RequestHead, chunks: ChunkDecoder, data: bytes) -> tuple[RequestHead, bytes] | None:
        self._add(b"".join(chunks.feed(data)))  # one part per read: millions of tiny ones would outweigh the body
        if self._body_bytes > self._body_limit_bytes:
            raise self._too_large()
        return self._complete(head, b"".join(self._parts), chunks.rest) if chunks.is_done else None

    def _add(self, part: bytes) -> None:
        self._parts.append(part)
        self._body_bytes += len(part)

    def _complete(self, head: RequestHead, body: bytes, rest: bytes) -> tuple[RequestHead, bytes]:
        self.head, self.phase, self._chunks = None, ReadPhase.IDLE, None
        self._parts, self._body_bytes, self._buffer = [], 0, rest
        return head, body

    def _too_large(self) -> GatewayError:
        limit = self._body_limit_bytes
        return GatewayError(ErrorKind.REQUEST_TOO_LARGE, f"The request body is larger than the limit of {limit} bytes.")
