"""One gateway and one provider for many small exchanges."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from pointsman.app import new_loop
from pointsman.testing import Answer, Chat, FakeProvider
from pointsman.testing.wire import Reply, Wire
from tests.integration.harness import Gateway, run_gateway

FINE = Chat("ok")


class World:
    """One gateway and one provider for many examples; `options` are those of `run_gateway`."""

    def __init__(self, **options: Any) -> None:
        self._runner = asyncio.Runner(loop_factory=new_loop)
        self._stack = AsyncExitStack()
        self._folder = TemporaryDirectory()
        self.a = FakeProvider(name="a")
        self._runner.run(self._open(options))

    def exchange(self, request: bytes, answer: Answer = FINE, cuts: list[int] | None = None) -> Reply:
        """One request, sent in pieces, and its answer."""
        reply: Reply = self._runner.run(self._exchange(request, answer, cuts or []))
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()
        self._folder.cleanup()

    async def _open(self, options: dict[str, Any]) -> None:
        await self._stack.enter_async_context(self.a)
        running = run_gateway(Path(self._folder.name), self.a, **options)
        self.gateway: Gateway = await self._stack.enter_async_context(running)

    async def _exchange(self, request: bytes, answer: Answer, cuts: list[int]) -> Reply:
        self.a.default = answer
        async with await Wire.open(self.gateway.base_url) as wire:
            for piece in pieces(request, cuts):
                wire.send(piece)
                await asyncio.sleep(0)  # a turn of the loop, so that pieces do not become one write
            return await wire.reply()


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    """`raw` cut at these places, taken modulo its length."""
    places = sorted({cut % (len(raw) + 1) for cut in cuts})
    return [raw[start:end] for start, end in zip([0, *places], [*places, len(raw)], strict=True) if start < end]
