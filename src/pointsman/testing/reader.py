"""Bytes of a connection in, whole requests out."""

from collections.abc import Callable

import httptools
from msgspec import Struct


class MalformedRequestError(Exception):
    """The bytes are not an HTTP/1.x request."""


class Message(Struct, frozen=True):
    """One request as it came over the wire."""

    method: str
    path: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    is_last: bool  # the peer wants the connection closed after the answer


class RequestReader:
    """Is fed whatever arrives and hands each complete request to `on_request`, in order."""

    def __init__(self, on_request: Callable[[Message], None]) -> None:
        self._on_request = on_request
        self._parser = httptools.HttpRequestParser(self)
        self.on_message_begin()

    def feed(self, data: bytes) -> None:
        """Raises `MalformedRequestError`; requests that were complete before the fault have been handed out."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as wrapper:
            raise wrapper.__context__ or wrapper from None  # not the request's fault: show the receiver's own exception
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as fault:
            raise MalformedRequestError(str(fault)) from fault

    def on_message_begin(self) -> None:
        """Part of httptools' protocol."""
        self._url = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        """Part of httptools' protocol."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Part of httptools' protocol."""
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """Part of httptools' protocol."""
        self._body += body

    def on_message_complete(self) -> None:
        """Part of httptools' protocol."""
        message = Message(
            method=self._parser.get_method().decode("latin-1"),
            path=self._url.decode("latin-1"),
            headers=self._headers,
            body=bytes(self._body),
            is_last=not self._parser.should_keep_alive(),
        )
        self._on_request(message)
