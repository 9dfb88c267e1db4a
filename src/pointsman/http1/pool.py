"""Kept-alive connections to upstreams, one pool per origin and credential."""

import asyncio
import functools
import ssl
from collections.abc import Container, Hashable

from pointsman.domain.target import Origin
from pointsman.http1.client import UpstreamConnection, WireFailure, WireFault
from pointsman.http1.limits import UpstreamLimits, Watchdog
from pointsman.http1.resolver import Resolver, allowed


class ConnectError(Exception):
    """No connection could be had. Carries the fault, never an address or a name."""

    def __init__(self, fault: WireFault) -> None:
        super().__init__(fault.value)
        self.failure = WireFailure(fault)


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Verifies host and chain, TLS 1.2 or newer; built once since loading the trust store takes 20 ms."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class ConnectionPool:
    """Hands out connections, newest first, so that surplus ones grow old and are closed."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, limits: UpstreamLimits, watchdog: Watchdog, resolver: Resolver
    ) -> None:
        self._loop, self._limits, self._watchdog, self._resolver = loop, limits, watchdog, resolver
        self._idle: dict[Hashable, list[UpstreamConnection]] = {}
        self._is_closed = False

    def reuse(self, key: Hashable) -> UpstreamConnection | None:
        """An idle connection that is still good, or None."""
        idle = self._idle.get(key)
        now = self._loop.time()
        while idle:
            connection = idle.pop()
            if now < connection.idle_until and connection.is_reusable and not connection.has_unread_bytes():
                return connection
            connection.abort()
        return None

    async def connect(self, origin: Origin, timeout_s: float) -> UpstreamConnection:
        """A fresh connection, to the first address of the origin that takes one. Raises ConnectError."""
        end = self._loop.time() + timeout_s
        found = await self._resolver.addresses(origin.host, timeout_s)
        addresses = allowed(found)
        fault = WireFault.DENIED if found else WireFault.DNS
        for number, address in enumerate(addresses):
            share_s = (end - self._loop.time()) / (len(addresses) - number)  # a silent one leaves time for the others
            try:
                return await self._connect(str(address), origin, share_s)
            except ConnectError as error:
                fault = error.failure.fault
        self._resolver.distrust(origin.host)
        raise ConnectError(fault)

    async def _connect(self, address: str, origin: Origin, timeout_s: float) -> UpstreamConnection:
        connection = UpstreamConnection(self._loop, self._limits, self._watchdog)
        try:
            async with asyncio.timeout(timeout_s):
                await self._loop.create_connection(
                    lambda: connection,
                    address,
                    origin.port,
                    ssl=tls_context() if origin.is_tls else None,
                    server_hostname=origin.host if origin.is_tls else None,
                )
        except TimeoutError:
            connection.abandon()
            raise ConnectError(WireFault.CONNECT_TIMEOUT) from None
        except (ssl.SSLError, ConnectionResetError):  # the latter: broken off within the handshake
            raise ConnectError(WireFault.TLS) from None
        except ConnectionRefusedError:
            raise ConnectError(WireFault.CONNECT_REFUSED) from None
        except OSError:
            raise ConnectError(WireFault.UNREACHABLE) from None
        except asyncio.CancelledError:
            connection.abandon()
            raise
        return connection

    def release(self, key: Hashable, connection: UpstreamConnection, idle_s: float) -> None:
        """Keep `connection` for at most `idle_s` seconds, or close it if it must not be used again."""
        if self._is_closed or not connection.is_reusable:
            connection.abort()
            return
        connection.idle_until = connection.last_read_at + idle_s
        self._idle.setdefault(key, []).append(connection)

    def keep(self, keys: Container[Hashable]) -> None:
        """Close the idle connections of every other key."""
        for key in [key for key in self._idle if key not in keys]:
            for connection in self._idle.pop(key):
                connection.abort()

    def start(self) -> None:
        """Begin to close connections that stay idle too long."""
        self._watchdog.watch(self)

    def close(self) -> None:
        """Close every idle connection and keep none from now on."""
        self._is_closed = True
        self._resolver.close()
        self._watchdog.unwatch(self)
        for idle in self._idle.values():
            for connection in idle:
                connection.abort()
        self._idle.clear()

    def check(self, now: float) -> None:
        """Watchdog: the oldest are first in each list; an emptied list goes, too."""
        for key, idle in tuple(self._idle.items()):
            while idle and (now >= idle[0].idle_until or not idle[0].is_reusable):
                idle.pop(0).abort()
            if not idle:
                del self._idle[key]
