"""Names of upstreams become addresses: off the loop, one look-up per name at a time, remembered for a while."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from pointsman.domain.addresses import Address, is_denied

FRESH_S = 30.0  # as long as load balancers of hosted providers announce
STALE_S = 300.0  # an old address is better than none while name servers are down
RETRY_S = 5.0  # between two look-ups of a name that is served stale
IMPATIENCE_S = 1.0  # for a look-up, where an old answer is at hand; half of what DNS clients wait before they repeat
MAX_NAMES = 1_024  # far more than any configuration has

Addresses = tuple[Address, ...]


class LookUp(Protocol):
    """`getaddrinfo` of an event loop: it works in a thread."""

    def __call__(self, host: str, port: None, *, type: int) -> Awaitable[Sequence[Any]]: ...  # noqa: A002


class Known:
    """What a name resolved to."""

    __slots__ = ("addresses", "fresh_until", "stale_until")

    def __init__(self, addresses: Addresses, now: float) -> None:
        self.addresses = addresses
        self.fresh_until = now + FRESH_S
        self.stale_until = now + STALE_S


class Resolver:
    """Remembers names. Look-ups cannot be interrupted: who waits for one may leave, it ends by itself."""

    def __init__(self, loop: asyncio.AbstractEventLoop, look_up: LookUp | None = None) -> None:
        self._loop, self._look_up = loop, look_up or loop.getaddrinfo
        self._known: dict[str, Known] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}

    async def addresses(self, host: str, within_s: float) -> Addresses:
        """All addresses of a host, best first, also denied ones; none if there is no answer in time."""
        literal = _literal(host)
        if literal is not None:
            return (literal,)
        known = self._known.get(host)
        if known is not None and self._loop.time() < known.fresh_until:
            return known.addresses
        await asyncio.wait((self._looked_up(host),), timeout=within_s if known is None else min(within_s, IMPATIENCE_S))
        found = self._known.get(host)
        now = self._loop.time()
        if found is None or now >= found.stale_until:
            return ()
        if now >= found.fresh_until:
            found.fresh_until = now + RETRY_S
        return found.addresses

    def distrust(self, host: str) -> None:
        """None of its addresses took a connection: it may have moved."""
        known = self._known.get(host)
        if known is not None:
            known.fresh_until = 0.0

    def close(self) -> None:
        """Wait for no look-up any more."""
        for task in self._looking.values():
            task.cancel()

    def _looked_up(self, host: str) -> asyncio.Task[None]:
        """The look-up of a name that is on its way, or a new one: a hanging name server holds one thread per name."""
        task = self._looking.get(host)
        if task is None:
            task = self._looking[host] = self._loop.create_task(self._look(host))
        return task

    async def _look(self, host: str) -> None:
        try:
            found = await self._look_up(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):  # the latter: no DNS label can hold the name
            return  # an older answer stays
        finally:
            del self._looking[host]
        self._known.pop(host, None)  # the dictionary is in the order of look-ups
        self._known[host] = Known(tuple(dict.fromkeys(_of(str(entry[4][0])) for entry in found)), self._loop.time())
        if len(self._known) > MAX_NAMES:
            del self._known[next(iter(self._known))]


def allowed(addresses: Addresses) -> Addresses:
    """Those that a connection may be made to."""
    return tuple(address for address in addresses if not is_denied(address))


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _of(text: str) -> Address:
    return ipaddress.ip_address(text.partition("%")[0])  # a zone says which interface; only denied addresses have one
