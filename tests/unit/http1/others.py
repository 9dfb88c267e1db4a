"""What other parsers make of the first request in some bytes."""

import contextlib
from collections.abc import Callable

import h11
import httptools
from msgspec import Struct

LARGE = 64 * 1024


class Read(Struct, frozen=True):
    """A complete request."""

    method: bytes
    target: bytes
    body: bytes


def with_h11(raw: bytes) -> Read | None:
    """None: refused, or not complete."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LARGE)
    connection.receive_data(raw)
    body, head = b"", None
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return Read(head.method, head.target, body)
            else:
                return None
    except h11.RemoteProtocolError:
        return None


class _Listener:
    def __init__(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.target, self.body = b"", b""
        self.found: Read | None = None

    def on_url(self, url: bytes) -> None:
        self.target += url if self.found is None else b""

    def on_body(self, body: bytes) -> None:
        self.body += body if self.found is None else b""

    def on_message_complete(self) -> None:
        if self.found is None:
            self.found = Read(self.parser.get_method(), self.target, self.body)


def with_httptools(raw: bytes) -> Read | None:
    """None: refused, or not complete."""
    listener = _Listener()
    with contextlib.suppress(httptools.HttpParserError, httptools.HttpParserUpgrade):
        listener.parser.feed_data(raw)
    return listener.found


OTHERS: tuple[Callable[[bytes], Read | None], ...] = (with_h11, with_httptools)
