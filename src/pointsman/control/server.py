"""The admin listener's server: uvicorn inside our own loop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette


class AdminServer:
    """Serves the application inside our own loop: signals, logs and exits stay ours."""

    def __init__(self, app: Starlette) -> None:
        self._server = _QuietServer(
            uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, proxy_headers=False)
        )
        self._server.config.load()
        self._socket: socket.socket | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> None:
        """Bind and serve. Raises OSError when the address cannot be bound."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))

    async def stop(self) -> None:
        """Close the listener and wait for running answers."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task

    @property
    def port(self) -> int:
        """The bound port, also when port 0 was asked for."""
        if self._socket is None:
            raise RuntimeError("the admin listener has not been started")
        return int(self._socket.getsockname()[1])


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process has its own handlers."""
        yield
