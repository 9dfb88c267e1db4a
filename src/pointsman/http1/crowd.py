"""What holds while there are too many connections: probes still get through, strangers make room."""

from collections import defaultdict
from collections.abc import Awaitable, Iterable
from typing import Protocol, TypeVar

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.door import Door, Rendered, Request
from pointsman.http1.head import RequestHead
from pointsman.http1.reply import Reply


class Member(Protocol):
    """One connection of many."""

    address: str  # of its peer
    made_at: float


M = TypeVar("M", bound=Member)


def surplus(strangers: Iterable[M], per_address: int) -> list[M]:
    """Those of each address that are too many: the ones that have said nothing for longest."""
    by_address: defaultdict[str, list[M]] = defaultdict(list)
    for stranger in strangers:
        by_address[stranger.address].append(stranger)
    found: list[M] = []
    for crowd in by_address.values():
        if len(crowd) > per_address:
            found += sorted(crowd, key=_age)[:-per_address]
    return found


def _age(member: Member) -> float:
    return member.made_at


def too_many() -> GatewayError:
    return GatewayError(ErrorKind.OVERLOADED, "The gateway takes no more connections now.", retry_after_s=1)


class ProbesOnly:
    """The door of connections over the cap: whoever watches over the gateway must be able to ask how it is."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def __call__(self, request: Request, reply: Reply) -> Awaitable[None]:
        reply.keep_alive = False
        return self._door(request, reply) if self._door.is_probe(request.head) else self._refuse(request, reply)

    def admit(self, head: RequestHead, expected_bytes: int) -> None:
        raise too_many()

    def is_probe(self, head: RequestHead) -> bool:
        return self._door.is_probe(head)

    def knows(self, head: RequestHead) -> bool:
        return False

    def render_error(self, error: GatewayError, head: RequestHead | None, *, is_local: bool) -> Rendered:
        return self._door.render_error(error, head, is_local=is_local)

    async def _refuse(self, request: Request, reply: Reply) -> None:
        reply.send(*self._door.render_error(too_many(), request.head, is_local=request.is_local))
