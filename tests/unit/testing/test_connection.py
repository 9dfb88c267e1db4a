"""One connection: who left is noticed at once, keep-alive, pipelining, requests that are not HTTP."""

import asyncio
import time
from collections.abc import Callable

import pytest

from pointsman.testing import Answer, Chat, CloseEarly, Events, FakeProvider, Hang, Raw, Received, Truncated, stream_of
from pointsman.testing.wire import Wire, chat_request, post

NOTICED_WITHIN_S = 0.1
REQUEST = chat_request()
MIDSTREAM = Events((b"data: 1\n\n",) * 100, gap_s=0.05)

WAYS_TO_LEAVE: dict[str, Callable[[Wire], None]] = {
    "fin": Wire.close,
    "rst": Wire.reset,
    "half-close": Wire.half_close,
}
MOMENTS: dict[str, tuple[Answer, int]] = {  # the answer, and the bytes of it that the peer waits for
    "never answered": (Hang(), 0),
    "during the delay": (Chat(delay_s=30), 0),
    "mid-stream": (MIDSTREAM, 200),
    "during the pause between words": (Chat("a b c", gap_s=30), 200),
    "stalled stream": (stream_of("a", then="stall"), 300),
    "stalled body": (Truncated(then="stall"), 100),
    "stalled raw": (Raw((b"HTTP/1.1 200 OK\r\n",), then="stall"), 10),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", WAYS_TO_LEAVE)
def test_a_peer_that_leaves_is_noticed_at_once(run: Callable, way: str, moment: str) -> None:
    answer, byte_count = MOMENTS[moment]
    request = chat_request(stream=True) if moment == "during the pause between words" else REQUEST

    async def left() -> tuple[Received, float]:
        async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(request)
            await provider.until(lambda: bool(provider.log))
            await wire.received_bytes(byte_count)
            (received,) = provider.log
            assert received.closed_at is None
            begin = time.monotonic()
            WAYS_TO_LEAVE[way](wire)
            async with asyncio.timeout(2):
                await received.closed.wait()
            noticed_after_s = time.monotonic() - begin
            await provider.until(lambda: not provider.open_connections)
            return received, noticed_after_s

    received, noticed_after_s = run(left())

    assert noticed_after_s < NOTICED_WITHIN_S
    assert received.closed_at is not None
    assert not received.answered


def test_a_peer_that_leaves_after_its_answer_left_nothing_open(run: Callable) -> None:
    async def answered_then_left() -> Received:
        async with FakeProvider() as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(REQUEST)
                await wire.reply()
            await provider.until(lambda: not provider.open_connections)
            return provider.log[0]

    received = run(answered_then_left())

    assert received.answered
    assert received.closed_at is None


def test_a_peer_that_leaves_leaves_all_its_pipelined_requests(run: Callable) -> None:
    async def left() -> list[Received]:
        async with FakeProvider(default=Hang()) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST * 3)
            await provider.until(lambda: len(provider.log) == 3)
            wire.reset()
            await provider.until(lambda: not provider.open_connections)
            return provider.log

    assert all(received.closed.is_set() for received in run(left()))


def test_nothing_more_is_played_for_a_peer_that_left(run: Callable) -> None:
    async def tasks_and_timers() -> tuple[int, bool]:
        async with FakeProvider(default=Chat(delay_s=0.05)) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(REQUEST)
                await provider.until(lambda: bool(provider.log))
            await provider.until(lambda: not provider.open_connections)
            with pytest.raises(TimeoutError):
                await provider.until(lambda: provider.log[0].answered, patience_s=0.1)
            return len(asyncio.all_tasks()), provider.log[0].answered

    assert run(tasks_and_timers()) == (1, False)


@pytest.mark.parametrize("answer", [Events((b"data: 1\n\n",), then="cut"), CloseEarly(), Raw((b"x",))])
def test_an_answer_that_closes_as_scripted_is_answered_not_left(run: Callable, answer: Answer) -> None:
    async def answered() -> Received:
        async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST)
            await wire.end()
            await provider.until(lambda: not provider.open_connections)
            return provider.log[0]

    received = run(answered())

    assert received.answered
    assert received.closed_at is None


# --- keep-alive


def test_a_connection_serves_one_request_after_the_other(run: Callable) -> None:
    async def three_requests() -> list[tuple[int, int]]:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            for _ in range(3):
                wire.send(REQUEST)
                await wire.reply()
            return [(received.connection, received.number) for received in provider.log]

    assert run(three_requests()) == [(1, 1), (1, 2), (1, 3)]


def test_connection_close_is_obeyed_after_the_answer(run: Callable) -> None:
    async def last_request() -> tuple[int, str, bool]:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            wire.send(chat_request(headers=(("connection", "close"),)))
            reply = await wire.reply()
            return reply.status, await wire.end(), provider.log[0].is_last

    assert run(last_request()) == (200, "fin", True)


def test_an_idle_connection_is_closed_after_its_time(run: Callable) -> None:
    async def idle() -> str:
        async with FakeProvider(idle_s=0.05) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST)
            await wire.reply()
            return await wire.end()

    assert run(idle()) == "fin"


def test_a_new_connection_without_a_request_is_idle_too(run: Callable) -> None:
    async def idle() -> str:
        async with FakeProvider(idle_s=0.05) as provider, await Wire.open(provider.base_url) as wire:
            return await wire.end()

    assert run(idle()) == "fin"


def test_a_connection_with_a_request_in_progress_is_not_idle(run: Callable) -> None:
    async def slow() -> int:
        async with FakeProvider(default=Chat(delay_s=0.15), idle_s=0.05) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(REQUEST)
                return (await wire.reply()).status

    assert run(slow()) == 200


def test_without_a_time_an_idle_connection_stays(run: Callable) -> None:
    async def idle() -> bool:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST)
            await wire.reply()
            return await wire.is_silent(0.1)

    assert run(idle())


# --- pipelining


def test_pipelined_requests_are_answered_in_order(run: Callable) -> None:
    async def texts() -> list[str]:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            provider.script(Chat("slow", delay_s=0.05), Chat("second"), Chat("third"))
            wire.send(REQUEST * 3)
            replies = [await wire.reply() for _ in range(3)]
            return [reply.json()["choices"][0]["message"]["content"] for reply in replies]

    assert run(texts()) == ["slow", "second", "third"]


def test_a_request_that_waits_behind_another_is_in_the_log_at_once(run: Callable) -> None:
    async def logged() -> list[bool]:
        async with FakeProvider(default=Hang()) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST * 2)
            await provider.until(lambda: len(provider.log) == 2)
            return [received.answered for received in provider.log]

    assert run(logged()) == [False, False]


def test_requests_behind_an_answer_that_closed_are_not_answered(run: Callable) -> None:
    async def unused() -> tuple[str, int]:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            provider.script(CloseEarly(), Chat())
            wire.send(REQUEST * 2)
            return await wire.end(), provider.unused_answers

    assert run(unused()) == ("fin", 1)


# --- bad requests


@pytest.mark.parametrize(
    "data", [b"NOT HTTP\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nbad header\r\n\r\n"]
)
def test_what_is_not_http_gets_a_400_and_the_end(run: Callable, data: bytes) -> None:
    async def refused() -> tuple[int, bytes | None, str, int]:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            wire.send(data)
            reply = await wire.reply()
            return reply.status, reply.header("connection"), await wire.end(), len(provider.log)

    assert run(refused()) == (400, b"close", "fin", 0)


def test_a_request_may_come_in_any_pieces(run: Callable) -> None:
    async def bytewise() -> bytes:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            for byte in post("/v1/chat/completions", b'{"model":"m"}'):
                wire.send(bytes([byte]))
                await asyncio.sleep(0)
            await wire.reply()
            return provider.log[0].body

    assert run(bytewise()) == b'{"model":"m"}'
