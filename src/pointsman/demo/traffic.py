"""Callers: real requests over the loopback interface, a few per second, and what became of them."""

import asyncio
import random
from collections.abc import Callable, Iterator

from msgspec import Struct

from pointsman.demo.configuration import GROUP
from pointsman.testing import chat
from pointsman.testing.wire import Wire, chat_request

RATE_PER_S = 4.0  # enough for a share of 10 % to show within 10 s, and costs next to nothing
STREAM_RATIO = 0.7  # most callers stream
PATIENCE_S = 30.0  # nobody waits longer for a sentence
SEED = 1


class Arrival(Struct, frozen=True):
    """The next request of the callers."""

    gap_s: float  # since the one before
    is_stream: bool


def arrivals(seed: int = SEED) -> Iterator[Arrival]:
    """An endless, repeatable sequence that comes as requests do: at random, not in step."""
    rng = random.Random(seed)  # noqa: S311  # not for secrets
    while True:
        yield Arrival(rng.expovariate(RATE_PER_S), rng.random() < STREAM_RATIO)


class Traffic:
    """Sends requests until it is cancelled, and counts those that have ended."""

    def __init__(self, base_url: str, *, is_over: Callable[[], bool]) -> None:
        self._base_url, self._is_over = base_url, is_over
        self.requests = 0
        self.failed = 0

    async def flow(self) -> None:
        """One task per request: a slow answer holds nobody up."""
        async with asyncio.TaskGroup() as callers:
            for arrival in arrivals():
                await asyncio.sleep(arrival.gap_s)
                callers.create_task(self._ask(is_stream=arrival.is_stream))

    async def _ask(self, *, is_stream: bool) -> None:
        is_whole = await is_answered(self._base_url, is_stream=is_stream)
        if is_whole or not self._is_over():  # a gateway that has been stopped may refuse
            self.requests += 1
            self.failed += not is_whole


async def is_answered(base_url: str, *, is_stream: bool) -> bool:
    """Send one request; True: the answer is a success and complete."""
    try:
        async with await Wire.open(base_url) as wire:
            wire.send(chat_request(GROUP, stream=is_stream))
            reply = await wire.reply(PATIENCE_S)
    except OSError:  # a timeout is one, too
        return False
    return reply.status == 200 and (not is_stream or reply.body.endswith(chat.DONE))
