"""Server-sent events of a dialect that numbers them (pure)."""

from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.sse import SseDecoder, SseEvent

_decode_fields = Decoder(dict[str, Raw]).decode


class NumberedDecoder(SseDecoder):
    """Remembers what an honest end of the stream needs: how the answer began, and the number of the next event."""

    def __init__(self, limit_bytes: int = 1024 * 1024) -> None:
        super().__init__(limit_bytes)
        self.first: bytes | None = None  # data of the first event that has any
        self.next_number = 0  # events are numbered from 0 on, one by one; a comment leaves a gap, which does no harm

    def feed(self, chunk: bytes) -> list[SseEvent]:
        events = super().feed(chunk)
        if events:
            self.next_number += len(events)
            if self.first is None:
                self.first = next((event.data for event in events if event.data is not None), None)
        return events

    def begun(self) -> dict[str, Raw]:
        """The fields of the response as the stream began."""
        try:
            return _decode_fields(_decode_fields(self.first or b"{}").get("response", b"{}"))
        except UNREADABLE:
            return {}
