"""Server-sent events of a dialect that numbers them (pure)."""

from pointsman.dialects.sse import SseDecoder, SseEvent


class NumberedDecoder(SseDecoder):
    """Remembers what an honest end of the stream needs: how the answer began, and the number of the next event."""

    def __init__(self, limit_bytes: int = 1024 * 1024) -> None:
        super().__init__(limit_bytes)
        self._first: bytes | None = None  # data of the first event that has any
        self._next_number = 0  # events are numbered from 0 on, one by one; a comment leaves a gap, which does no harm

    def feed(self, chunk: bytes) -> list[SseEvent]:
        events = super().feed(chunk)
        if events:
            self._next_number += len(events)
            if self._first is None:
                self._first = next((event.data for event in events if event.data is not None), None)
        return events

    def so_far(self) -> tuple[bytes, int]:
        return self._first or b"{}", self._next_number
