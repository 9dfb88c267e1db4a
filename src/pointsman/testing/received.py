"""What a fake provider keeps of each request."""

import asyncio
from typing import Any

import msgspec
from msgspec import Struct, field


class Received(Struct, eq=False):
    """One request and how its answer went. At most one of `answered` and `closed` ever comes true."""

    method: str
    path: str  # with its query, as sent
    headers: list[tuple[bytes, bytes]]  # names and values as sent, in order
    body: bytes
    connection: int  # counts the provider's connections from 1
    number: int  # counts the provider's requests from 1
    received_at: float  # by the provider's clock
    is_last: bool = False  # the peer wants the connection closed after the answer
    answered: bool = False  # all that was scripted has been sent; stays false for answers that stall or hang
    closed_at: float | None = None  # when the peer closed or reset before the answer was complete
    closed: asyncio.Event = field(default_factory=asyncio.Event)  # set together with `closed_at`

    def header(self, name: str) -> bytes | None:
        """The first header of that name, in any case."""
        wanted = name.lower().encode("latin-1")
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def json(self) -> Any:
        """The decoded body."""
        return msgspec.json.decode(self.body)
