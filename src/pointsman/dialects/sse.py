"""Server-sent events: bytes in, whole events out, each with the exact bytes it came in (pure)."""

import re

from pointsman.domain.octets import holds
from pointsman.domain.value import Leaf

_LINE_END = re.compile(rb"\r\n|\n|\r")  # WHATWG HTML 9.2.5
_EMPTY_LINE = re.compile(rb"\n\n|\r\r|\n\r")  # no empty line comes without one of these
_BOM = b"\xef\xbb\xbf"
_DATA = b"data: "
_EVENT = b"event:"


class SseEvent(Leaf):
    """One event. `raw` includes the empty line that ends it."""

    raw: bytes
    data: bytes | None  # the data lines joined with LF; None: a comment, or fields without data


class EventTooLargeError(Exception):
    """An event grew past the limit before it ended."""


class SseDecoder:
    """Splits a stream into events; any cut of the bytes gives the same events."""

    def __init__(self, limit_bytes: int = 1024 * 1024) -> None:
        self._limit_bytes = limit_bytes
        self._pending: list[bytes] = []  # joined only when an event may end: a big one may come in tiny pieces
        self._pending_bytes = 0
        self._tail = b""  # the last two pending bytes
        self._is_blank = False  # nothing pending but empty lines
        self._at_start = True

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that `chunk` completes. Raises EventTooLargeError."""
        if not self._pending and not self._at_start and _is_one_line(chunk):
            return [SseEvent(chunk, chunk[len(_DATA) : -2])]
        data = chunk
        if self._pending:
            if not self._may_complete(chunk):
                self._hold(chunk)
                return []
            data = b"".join((*self._pending, chunk))
            self._pending, self._pending_bytes = [], 0
        if self._at_start:
            data = self._skip_bom(data)
        return self._split_any(data) if holds(data, b"\r") else self._split_lf(data)

    def close(self) -> list[SseEvent]:
        """The last event of a stream that ended without its empty line (E-02), completed with one."""
        raw = b"".join(self._pending)
        self._pending = []
        if not raw.strip():
            return []
        return [SseEvent(raw.rstrip(b"\r\n") + b"\n\n", data_of(raw))]

    def so_far(self) -> tuple[bytes, int]:
        """What the honest end of a broken answer needs: data of its first event, and the number of the next one."""
        return b"{}", 0  # most dialects need nothing

    def _may_complete(self, chunk: bytes) -> bool:
        """Whether `chunk` may end the pending event; if not, it is put aside at the cost of its own length."""
        if self._at_start:
            return True
        if self._is_blank:
            return bool(chunk.strip(b"\r\n"))
        return _EMPTY_LINE.search(self._tail + chunk) is not None

    def _hold(self, rest: bytes) -> None:
        """Keep what no empty line has ended yet."""
        if not self._pending:
            self._tail = b""
            self._is_blank = rest[:1] in (b"\r", b"\n") and not rest.strip(b"\r\n")
        self._pending.append(rest)
        self._pending_bytes += len(rest)
        self._tail = (self._tail + rest)[-2:]
        if self._pending_bytes > self._limit_bytes:
            raise EventTooLargeError

    def _skip_bom(self, data: bytes) -> bytes:
        if len(data) < len(_BOM) and _BOM.startswith(data):
            return data  # not decidable yet; no event fits into two bytes
        self._at_start = False
        return data.removeprefix(_BOM)

    def _split_lf(self, data: bytes) -> list[SseEvent]:
        """The usual case: every line ends with LF, an event with two of them."""
        events: list[SseEvent] = []
        start = 0
        while True:
            first = start
            while data.startswith(b"\n", first):
                first += 1  # surplus empty lines travel with the next event
            end = data.find(b"\n\n", first)
            if end < 0:
                if start < len(data):
                    self._hold(data[start:])
                return events
            raw = data[start : end + 2]
            is_plain = raw.startswith(_DATA) and raw.find(b"\n") == len(raw) - 2
            events.append(SseEvent(raw, raw[len(_DATA) : -2] if is_plain else data_of(raw)))
            start = end + 2

    def _split_any(self, data: bytes) -> list[SseEvent]:
        """Line by line; a CR at the very end waits, since an LF may belong to it."""
        events: list[SseEvent] = []
        start = line_start = 0
        decided = len(data) - 1 if data.endswith(b"\r") else len(data)
        has_content = False
        for end in _LINE_END.finditer(data, 0, decided):
            if end.start() > line_start:
                has_content = True
            elif has_content:
                raw = data[start : end.end()]
                events.append(SseEvent(raw, data_of(raw)))
                start, has_content = end.end(), False
            line_start = end.end()
        if start < len(data):
            self._hold(data[start:])
        return events


def _is_one_line(chunk: bytes) -> bool:
    """The usual case by far: one event of one data line in one read."""
    return (
        chunk.startswith(_DATA)
        and chunk.endswith(b"\n\n")
        and chunk.find(b"\n") == len(chunk) - 2
        and not holds(chunk, b"\r")
    )


def data_of(raw: bytes) -> bytes | None:
    """The data of one event, or None when it has none."""
    if raw.startswith(_EVENT) and raw.count(b"\n") == 3 and not holds(raw, b"\r"):
        start = raw.index(b"\n") + 1
        if raw.startswith(_DATA, start) and raw.endswith(b"\n\n"):
            return raw[start + len(_DATA) : -2]  # a name and one line of data, as most named events are
    values = []
    for line in _LINE_END.split(raw):
        field, _, value = line.partition(b":")
        if field == b"data":
            values.append(value.removeprefix(b" "))
    return b"\n".join(values) if values else None
