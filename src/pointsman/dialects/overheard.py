"""A decoder that keeps what it has read, for somebody who reads it later (pure)."""

from pointsman.dialects.sse import SseDecoder, SseEvent

MAX_BYTES = 1 << 20  # of one answer: longer ones are not judged


class Overheard(SseDecoder):
    """Gives the events of another decoder, and keeps their data."""

    def __init__(self, decoder: SseDecoder) -> None:
        super().__init__()
        self._decoder = decoder
        self._kept: list[bytes] = []
        self._kept_bytes = 0

    @property
    def heard(self) -> list[bytes]:
        """Data of all events; empty: it was too much."""
        return self._kept if self._kept_bytes <= MAX_BYTES else []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return self._keep(self._decoder.feed(chunk))

    def close(self) -> list[SseEvent]:
        return self._keep(self._decoder.close())

    def so_far(self) -> tuple[bytes, int]:
        return self._decoder.so_far()

    def _keep(self, events: list[SseEvent]) -> list[SseEvent]:
        if self._kept_bytes > MAX_BYTES:
            self._kept = []
            return events
        for event in events:
            if event.data is not None:
                self._kept.append(event.data)
                self._kept_bytes += len(event.data)
        return events
