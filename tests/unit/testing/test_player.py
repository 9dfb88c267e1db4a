"""Steps are played one by one, each only when the one before has left the process."""

import asyncio
from collections.abc import Callable, Iterator
from typing import cast

from pointsman.testing import Events, FakeProvider, Raw
from pointsman.testing.player import Player
from pointsman.testing.script import End, Step, Wait
from pointsman.testing.wire import Wire, chat_request

PIECE = b"x" * 65_536
PIECES = 400  # 25 MB, far more than the kernel holds for a peer that does not read


class Sink:
    """The transport's part that a player uses; `pauses_at` makes it full by that piece."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.after_write: Callable[[], None] = lambda: None

    def write(self, data: bytes) -> None:
        self.written.append(data)
        self.after_write()


def player_of(steps: Iterator[Step], sink: Sink, ends: list[End]) -> Player:
    return Player(cast("asyncio.Transport", sink), steps, ends.append)


def test_all_steps_that_are_due_are_played_at_once(run: Callable) -> None:
    sink, ends = Sink(), []

    async def play() -> None:
        player_of(iter((b"a", b"b", End.KEEP)), sink, ends).play()

    run(play())

    assert (sink.written, ends) == ([b"a", b"b"], [End.KEEP])


def test_a_pause_holds_the_next_step_back_until_all_has_left(run: Callable) -> None:
    sink, ends = Sink(), []

    async def play() -> list[bytes]:
        player = player_of(iter((b"a", b"b", End.CLOSE)), sink, ends)
        sink.after_write = player.pause
        player.play()
        held_back_at = list(sink.written)
        sink.after_write = lambda: None
        player.resume()
        await asyncio.sleep(0)
        return held_back_at

    held_back_at = run(play())

    assert held_back_at == [b"a"]
    assert (sink.written, ends) == ([b"a", b"b"], [End.CLOSE])


def test_the_end_waits_for_the_last_byte_to_leave(run: Callable) -> None:
    sink, ends = Sink(), []

    async def play() -> list[End]:
        player = player_of(iter((b"a", End.RESET)), sink, ends)
        sink.after_write = player.pause
        player.play()
        return list(ends)

    assert run(play()) == []


def test_a_stopped_player_sends_nothing_more(run: Callable) -> None:
    sink, ends = Sink(), []

    async def play() -> None:
        player = player_of(iter((b"a", Wait(0), b"b", End.KEEP)), sink, ends)
        player.play()
        player.stop()
        for _ in range(3):
            await asyncio.sleep(0)

    run(play())

    assert (sink.written, ends) == ([b"a"], [])


def test_a_resumed_player_does_not_cut_a_wait_short(run: Callable) -> None:
    sink, ends = Sink(), []

    async def play() -> None:
        player = player_of(iter((b"a", Wait(30), b"b", End.KEEP)), sink, ends)
        player.play()
        player.pause()
        player.resume()
        await asyncio.sleep(0)
        player.stop()

    run(play())

    assert sink.written == [b"a"]


def test_a_peer_that_does_not_read_holds_the_answer_back(run: Callable) -> None:
    taken: list[int] = []

    def pieces() -> Iterator[bytes]:
        for number in range(PIECES):
            taken.append(number)
            yield PIECE

    class Lazy(tuple):  # hands the pieces out one by one, so that the test sees how far the provider got
        __slots__ = ()

        def __iter__(self) -> Iterator[bytes]:
            return pieces()

    async def held_back() -> tuple[int, int]:
        async with FakeProvider(default=Raw(Lazy(), then="close")) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.pause()
                wire.send(chat_request())
                await provider.until(lambda: bool(provider.log))
                before = -1
                while before != len(taken):  # until it stops by itself
                    before = len(taken)
                    await asyncio.sleep(0.05)
                wire.resume()
                received = await wire.received_bytes(PIECES * len(PIECE))
                return before, len(received)

    before, received_bytes = run(held_back())

    assert 0 < before < PIECES
    assert received_bytes == PIECES * len(PIECE)


def test_a_peer_that_does_not_read_and_leaves_is_noticed(run: Callable) -> None:
    async def left() -> bool:
        async with FakeProvider(default=Events((PIECE,) * PIECES)) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.pause()
                wire.send(chat_request())
                await provider.until(lambda: bool(provider.log))
                wire.reset()
                await provider.until(lambda: not provider.open_connections)
                return provider.log[0].closed_at is not None and not provider.log[0].answered

    assert run(left())
