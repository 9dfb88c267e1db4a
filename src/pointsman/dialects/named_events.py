"""Server-sent events of a dialect whose clients go by the names of events (pure)."""

import re

from pointsman.dialects.event_type import type_in
from pointsman.dialects.sse import SseDecoder, SseEvent

_NAMED = re.compile(rb"(?:^|[\r\n])event:")  # JSON has no raw line ends, so this is never inside of data
_NAME = re.compile(r"[a-z_]+")


class NamedEventDecoder(SseDecoder):
    """Names an event that came without a name after the `type` of its data: Anthropic's SDKs drop it else (E-15)."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return [event if event.raw.startswith(b"event:") else _named(event) for event in super().feed(chunk)]

    def close(self) -> list[SseEvent]:
        return list(map(_named, super().close()))


def _named(event: SseEvent) -> SseEvent:
    if event.data is None or _NAMED.search(event.raw):
        return event
    name = type_in(event.data)
    if _NAME.fullmatch(name) is None:
        return event
    return SseEvent(b"event: %b\n%b" % (name.encode(), event.raw.lstrip(b"\r\n")), event.data)
