"""What the edge asks of whoever serves its requests."""

from collections.abc import Awaitable
from typing import Protocol, TypeAlias

from pointsman.domain.errors import GatewayError
from pointsman.domain.value import Leaf
from pointsman.http1.head import RequestHead
from pointsman.http1.reply import Reply

Rendered: TypeAlias = tuple[int, bytes, bytes]  # status, header lines, body


class Request(Leaf):
    """A complete request."""

    head: RequestHead
    body: bytes
    received_at: float  # monotonic seconds of the loop, when its first byte was read
    is_local: bool  # sent from this machine
    is_admitted: bool  # `admit` was asked about it, since its body came later than its head


class Door(Protocol):
    """What the edge serves."""

    def __call__(self, request: Request, reply: Reply) -> Awaitable[None]:
        """The work of one request, to be awaited."""
        ...

    def admit(self, head: RequestHead, expected_bytes: int) -> None:
        """Asked before a body is waited for. Raises GatewayError when nobody would look at it.

        `expected_bytes` are those of all bodies that are still to come, this one included.
        """
        ...

    def is_probe(self, head: RequestHead) -> bool:
        """Whether a request only asks how the gateway is."""
        ...

    def knows(self, head: RequestHead) -> bool:
        """Whether whoever sent it may be here. Asked seldom, of connections that are too many."""
        ...

    def render_error(self, error: GatewayError, head: RequestHead | None, *, is_local: bool) -> Rendered:
        """An answer to a request that may not be complete, or even begun."""
        ...
