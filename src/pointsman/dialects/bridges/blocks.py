"""The blocks of a streamed message, which must come one after the other (pure).

The first one that is not complete is open, and those behind it wait (G-03).
"""

from collections import deque

import msgspec

from pointsman.dialects.bridges.call_order import is_complete
from pointsman.dialects.sse import EventTooLargeError, SseEvent

NO_CALL = -1
MAX_HELD_CHARS = 1 << 20  # of all calls that had to wait: as much as is held back before the first content


class _Block:
    """One block, and what of it has not been written."""

    def __init__(self, kind: bytes, call: int, start: bytes) -> None:
        self.kind, self.call = kind, call
        self._start: bytes | None = start
        self._waiting: list[str] = []
        self._arguments = ""

    @property
    def is_complete(self) -> bool:
        """Text ends where anything else begins; a call with its arguments."""
        return self.call == NO_CALL or is_complete(self._arguments)

    def add(self, piece: str) -> None:
        if piece:
            self._waiting.append(piece)
        if self.call != NO_CALL:
            self._arguments += piece

    def written(self, index: int) -> list[SseEvent]:
        """All that can be written of it now."""
        found = []
        if self._start is not None:
            start = b'{"type":"content_block_start","index":%d,"content_block":%b}' % (index, self._start)
            found.append(event(b"content_block_start", start))
            self._start = None
        found += [_delta(index, self.kind, piece) for piece in self._waiting]
        self._waiting.clear()
        return found


class Blocks:
    """All blocks of a message, in order."""

    def __init__(self) -> None:
        self._waiting: deque[_Block] = deque()
        self._index = 0
        self._calls: dict[int, _Block] = {}
        self._held_chars = 0

    def say(self, kind: bytes, start: bytes, piece: str) -> list[SseEvent]:
        """More text, or more thoughts."""
        if not self._waiting or self._waiting[-1].kind != kind:
            self._waiting.append(_Block(kind, NO_CALL, start))
        elif len(self._waiting) == 1:
            return [_delta(self._index, kind, piece)]  # the usual case: the open block goes on
        return self._added(self._waiting[-1], piece)

    def begin_call(self, number: int, kind: bytes, start: bytes) -> list[SseEvent]:
        self._calls[number] = _Block(kind, number, start)
        self._waiting.append(self._calls[number])
        return self._written()

    def go_on(self, number: int, piece: str) -> list[SseEvent]:
        return self._added(self._calls[number], piece)

    def end(self) -> list[SseEvent]:
        """Whatever waits is written, and every block is closed once."""
        found: list[SseEvent] = []
        while self._waiting:
            found += self._waiting[0].written(self._index)
            found.append(self._closed())
        return found

    def _added(self, block: _Block, piece: str) -> list[SseEvent]:
        """Raises EventTooLargeError."""
        if block is not self._waiting[0]:
            self._held_chars += len(piece)
            if self._held_chars > MAX_HELD_CHARS:
                raise EventTooLargeError
        block.add(piece)
        return self._written()

    def _written(self) -> list[SseEvent]:
        found = self._waiting[0].written(self._index)
        while len(self._waiting) > 1 and self._waiting[0].is_complete:
            found.append(self._closed())
            found += self._waiting[0].written(self._index)
        return found

    def _closed(self) -> SseEvent:
        stop = event(b"content_block_stop", b'{"type":"content_block_stop","index":%d}' % self._index)
        self._waiting.popleft()
        self._index += 1
        return stop


def _delta(index: int, kind: bytes, piece: str) -> SseEvent:
    said = msgspec.json.encode(piece)
    return event(
        b"content_block_delta", b'{"type":"content_block_delta","index":%d,"delta":{%b:%b}}' % (index, kind, said)
    )


def event(name: bytes, data: bytes) -> SseEvent:
    """Anthropic's SDKs go by the names of events (E-15)."""
    return SseEvent(b"event: %b\ndata: %b\n\n" % (name, data), data)
