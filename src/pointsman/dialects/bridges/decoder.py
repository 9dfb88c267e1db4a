"""A stream on its way over a bridge: bytes of one dialect in, events of the other out (pure)."""

from pointsman.dialects.bridges.events import (
    Begun,
    Broken,
    CallBegun,
    Counted,
    Ended,
    Event,
    EventReader,
    EventWriter,
    Failed,
    Finished,
)
from pointsman.dialects.bridges.neutral import Refusal, ended
from pointsman.dialects.sse import SseDecoder, SseEvent
from pointsman.domain.outcome import Usage

_BROKEN = SseEvent(b"data: {\n\n", b"{")  # in every dialect: what it was is nothing that a caller could use


class BridgeDecoder(SseDecoder):
    """To whoever relays its events the upstream speaks the caller's dialect.

    Finish and usage wait for the end: until then they may be said again, and must reach the caller once (E-12).
    """

    def __init__(self, limit_bytes: int, reader: EventReader, writer: EventWriter, *, is_lenient: bool) -> None:
        super().__init__(limit_bytes)
        self._reader, self._writer, self._is_lenient = reader, writer, is_lenient
        self._finish: str | None = None
        self._has_begun = self._has_calls = self._has_refusal = self._is_over = False
        self._first, self._next_number = b"{}", 0
        self.usage: Usage | None = None  # as the provider counted; what goes to the caller may begin with an estimate

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return self._carried(super().feed(chunk))

    def close(self) -> list[SseEvent]:
        """The end, too, where a finish is proof enough of it; else nobody gets to see that finish (E-04)."""
        found = self._carried(super().close())
        if self._is_lenient and self._finish is not None and not self._is_over:
            found += self._end()
        return found

    def so_far(self) -> tuple[bytes, int]:
        return self._first, self._next_number

    def _carried(self, events: list[SseEvent]) -> list[SseEvent]:
        found: list[SseEvent] = []
        for event in events:
            if self._is_over:
                break  # nothing after the end of an answer counts
            if event.data is not None:
                for said in self._reader.read(event.data):
                    found += self._write(said)
            elif event.raw.startswith(b":"):
                found.append(event)  # a comment means the same in every dialect (E-03)
        return found

    def _write(self, said: Event) -> list[SseEvent]:
        if isinstance(said, Finished):
            self._finish = said.finish
        elif isinstance(said, Counted):
            self.usage = said.usage
        elif isinstance(said, Ended):
            return self._end()
        elif isinstance(said, Broken | Failed):
            self._is_over = True
            return [_BROKEN] if isinstance(said, Broken) else self._writer.write(said)
        else:
            if isinstance(said, Begun):
                self.usage = said.usage
            elif not self._has_begun:
                return self._write(Begun("", "")) + self._write(said)  # some engines leave their beginning out
            self._has_begun = True
            self._has_calls = self._has_calls or isinstance(said, CallBegun)
            self._has_refusal = self._has_refusal or isinstance(said, Refusal)
            return self._counted(self._writer.write(said))
        return []

    def _end(self) -> list[SseEvent]:
        """An end without a finish is for the reader of what is written to judge."""
        self._is_over = True
        finish = ended(self._finish, has_calls=self._has_calls, has_refusal=self._has_refusal)
        events = self._writer.end(finish, self.usage)
        self._counted(events[:-1])  # the last one is held back until the message has ended
        return events

    def _counted(self, events: list[SseEvent]) -> list[SseEvent]:
        if events and not self._next_number:
            self._first = events[0].data or self._first
        self._next_number += len(events)
        return events
