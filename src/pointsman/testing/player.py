"""Puts the steps of one answer on the wire, each only when the one before has left the process."""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterator
from typing import cast

from pointsman.testing.script import End, Step, Wait

LINGER_ZERO = struct.pack("ii", 1, 0)  # on, 0 seconds: close() sends RST and drops what was not sent


class Player:
    """Plays one answer. The transport's write buffer limit must be 0, so that a pause means "not all has left"."""

    def __init__(self, transport: asyncio.Transport, steps: Iterator[Step], on_end: Callable[[End], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._steps = steps
        self._on_end = on_end
        self._next: asyncio.Handle | None = None  # set while the next step waits for its time
        self._is_paused = False
        self._is_stopped = False

    def play(self) -> None:
        """Carry out all steps that are due."""
        self._next = None
        while self._next is None and not self._is_paused and not self._is_stopped:
            match next(self._steps):
                case Wait(duration_s=duration_s):
                    self._next = self._loop.call_later(duration_s, self.play)
                case End() as end:
                    self._is_stopped = True
                    self._on_end(end)
                case piece:
                    self._transport.write(piece)

    def pause(self) -> None:
        """Bytes are still on their way out."""
        self._is_paused = True

    def resume(self) -> None:
        """All has left. Goes on in the next turn: transports do not bear being closed from within this callback."""
        self._is_paused = False
        if self._next is None:
            self._next = self._loop.call_soon(self.play)

    def stop(self) -> None:
        """Nothing more is sent; leaves no timer."""
        self._is_stopped = True
        if self._next is not None:
            self._next.cancel()


def reset(transport: asyncio.Transport) -> None:
    """Close with RST instead of FIN."""
    sock = cast("socket.socket", transport.get_extra_info("socket"))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
    transport.abort()
