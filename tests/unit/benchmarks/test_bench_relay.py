"""The bare relay is the least that is still correct, proven on real sockets: an honest baseline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest
import uvloop

from benchmarks import relay
from pointsman.testing import (
    Answer,
    Chat,
    CloseEarly,
    Events,
    FakeProvider,
    Hang,
    Raw,
    Status,
    Truncated,
    refused_port,
    stream_of,
)
from pointsman.testing.wire import Wire, chat_request, post

UNARY, STREAMED = chat_request(), chat_request(stream=True)
T = TypeVar("T")


@asynccontextmanager
async def relay_to(base_url: str) -> AsyncIterator[str]:
    server = await relay.start(0, int(base_url.rpartition(":")[2].partition("/")[0]))
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def through_relay(act: Callable[[FakeProvider, Wire], Awaitable[T]], *, default: Answer | None = None) -> T:
    """What `act` finds with a provider behind a relay and one caller's connection to it."""

    async def scenario() -> T:
        async with FakeProvider(default=default or Chat("ok")) as provider, relay_to(provider.base_url) as base_url:
            async with await Wire.open(base_url) as wire:
                return await act(provider, wire)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(scenario())


# --- whole answers


def test_unary_answer_and_its_headers_are_relayed() -> None:
    async def act(_: FakeProvider, wire: Wire) -> tuple[int, str, bytes | None]:
        wire.send(UNARY)
        reply = await wire.reply()
        return reply.status, reply.json()["choices"][0]["message"]["content"], reply.header("x-request-id")

    answer = Chat("hello", headers=(("x-request-id", "r1"),))

    assert through_relay(act, default=answer) == (200, "hello", b"r1")


@pytest.mark.parametrize("status", [400, 429, 503, 529])
@pytest.mark.parametrize("request_bytes", [UNARY, STREAMED])
def test_error_is_relayed_with_its_status(status: int, request_bytes: bytes) -> None:
    async def act(_: FakeProvider, wire: Wire) -> tuple[int, str]:
        wire.send(request_bytes)
        reply = await wire.reply()
        return reply.status, reply.json()["error"]["message"]

    assert through_relay(act, default=Status(status, "as said")) == (status, "as said")


@pytest.mark.parametrize("split", [None, 1, 7])
def test_stream_is_byte_identical(split: int | None) -> None:
    events = tuple(b"data: \xc3\xa9 %d\n\n" % number for number in range(20))

    async def act(_: FakeProvider, wire: Wire) -> bytes:
        wire.send(STREAMED)
        return (await wire.reply()).body

    assert through_relay(act, default=Events(events, split=split)) == b"".join(events) + b"data: [DONE]\n\n"


def test_pipelined_requests_are_answered_in_order() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> list[str]:
        provider.script(Chat("a", delay_s=0.03), Chat("b"), Chat("c"))
        wire.send(UNARY * 3)
        return [(await wire.reply()).json()["choices"][0]["message"]["content"] for _ in range(3)]

    assert through_relay(act) == ["a", "b", "c"]


def test_big_stream_reaches_a_caller_who_reads_late() -> None:
    events = (b"data: %b\n\n" % (b"x" * 100_000),) * 400

    async def act(provider: FakeProvider, wire: Wire) -> tuple[bool, int]:
        wire.pause()
        wire.send(STREAMED)
        await provider.until(lambda: bool(provider.log))
        await wire.is_silent(0.2)
        was_held_back = not provider.log[0].answered
        wire.resume()
        return was_held_back, len((await wire.reply()).body)

    was_held_back, body_bytes = through_relay(act, default=Events(events, then="end"))

    assert was_held_back
    assert body_bytes == sum(map(len, events))


# --- broken answers


@pytest.mark.parametrize("then", ["cut", "reset"])
def test_broken_stream_never_gets_a_clean_end(then: str) -> None:
    async def act(_: FakeProvider, wire: Wire) -> bytes:
        wire.send(STREAMED)
        await wire.end()
        return bytes(wire.received)

    received = through_relay(act, default=stream_of("a", "b", then=then, gap_s=0.01))

    assert received.startswith(b"HTTP/1.1 200 OK")
    assert b"0\r\n\r\n" not in received[-10:]


@pytest.mark.parametrize("request_bytes", [UNARY, STREAMED])
@pytest.mark.parametrize(
    "answer",
    [
        Truncated(then="cut"),
        Truncated(then="reset"),
        CloseEarly(),
        CloseEarly(reset=True),
        Raw((b"not HTTP at all\r\n\r\n",)),
        Raw((b"HTTP/1.1 200 OK\r\ncontent-le",)),
    ],
)
def test_answer_that_is_not_whole_becomes_a_502(answer: Answer, request_bytes: bytes) -> None:
    async def act(_: FakeProvider, wire: Wire) -> int:
        wire.send(request_bytes)
        return (await wire.reply()).status

    assert through_relay(act, default=answer) == 502


def test_unary_answer_in_chunks_that_breaks_off_becomes_a_502() -> None:
    async def act(_: FakeProvider, wire: Wire) -> int:
        wire.send(UNARY)
        return (await wire.reply()).status

    assert through_relay(act, default=stream_of("a", then="cut")) == 502


def test_provider_that_cannot_be_reached_is_a_502() -> None:
    async def scenario() -> int:
        with refused_port() as dead:
            async with relay_to(dead) as base_url, await Wire.open(base_url) as wire:
                wire.send(UNARY)
                return (await wire.reply()).status

    assert asyncio.run(scenario()) == 502


def test_caller_may_go_on_after_a_502() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> list[int]:
        provider.script(Truncated())
        statuses = []
        for _ in range(2):
            wire.send(UNARY)
            statuses.append((await wire.reply()).status)
        return statuses

    assert through_relay(act) == [502, 200]


# --- connections to the provider


@pytest.mark.parametrize("request_bytes", [UNARY, STREAMED])
def test_connections_are_reused(request_bytes: bytes) -> None:
    async def act(provider: FakeProvider, wire: Wire) -> int:
        for _ in range(5):
            wire.send(request_bytes)
            await wire.reply()
        return provider.connections_accepted

    assert through_relay(act) == 1


def test_stale_connection_is_replaced_and_the_request_is_sent_again() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> tuple[int, int]:
        wire.send(UNARY)
        await wire.reply()
        provider.script(CloseEarly())  # as if it had closed the idle connection in this moment
        wire.send(UNARY)
        return (await wire.reply()).status, provider.connections_accepted

    assert through_relay(act) == (200, 2)


def test_connection_that_the_provider_closed_while_idle_is_not_used() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> tuple[int, int]:
        provider.idle_s = 0.02
        wire.send(UNARY)
        await wire.reply()
        await provider.until(lambda: not provider.open_connections)
        wire.send(UNARY)
        return (await wire.reply()).status, len(provider.log)

    assert through_relay(act) == (200, 2)


def test_answer_that_nobody_asked_for_is_never_given_to_the_next_request() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    unsolicited = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"

    async def act(provider: FakeProvider, wire: Wire) -> tuple[int, int]:
        provider.script(Raw((answer, unsolicited), then="keep", gap_s=0.02))
        wire.send(UNARY)
        await wire.reply()
        await provider.until(lambda: not provider.open_connections)
        wire.send(UNARY)
        return (await wire.reply()).status, provider.connections_accepted

    assert through_relay(act) == (200, 2)


@pytest.mark.parametrize("leave", [Wire.close, Wire.reset])
@pytest.mark.parametrize("answer", [Hang(), stream_of("a", then="stall")])
def test_caller_who_leaves_closes_the_providers_connection(answer: Answer, leave: Callable[[Wire], None]) -> None:
    async def act(provider: FakeProvider, wire: Wire) -> bool:
        wire.send(STREAMED)
        await provider.until(lambda: bool(provider.log))
        leave(wire)
        await provider.until(lambda: not provider.open_connections)
        return provider.log[0].closed.is_set()

    assert through_relay(act, default=answer)


# --- what the provider sees


def test_credential_and_host_are_replaced_and_the_rest_is_passed_on() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> list[tuple[bytes, bytes]]:
        headers = (("Authorization", "Bearer sk-caller"), ("x-kept", "1"), ("connection", "keep-alive"), ("te", "x"))
        wire.send(chat_request(headers=headers))
        await wire.reply()
        assert provider.base_url.startswith(f"http://{provider.log[0].header('host').decode()}/")
        return [header for header in provider.log[0].headers if header[0] not in {b"host", b"content-length"}]

    assert through_relay(act) == [(b"authorization", b"Bearer sk-upstream"), (b"x-kept", b"1")]


def test_body_arrives_as_it_was_sent() -> None:
    body = b'{ "model": "m",\n "extra": [1, 2] }'

    async def act(provider: FakeProvider, wire: Wire) -> tuple[bytes, str]:
        wire.send(post("/v1/chat/completions?a=1", body))
        await wire.reply()
        return provider.log[0].body, provider.log[0].path

    assert through_relay(act) == (body, "/v1/chat/completions?a=1")


# --- what never gets there


@pytest.mark.parametrize("body", [b"{", b"{}", b'{"model": 1}'])
def test_body_without_a_model_is_refused(body: bytes) -> None:
    async def act(provider: FakeProvider, wire: Wire) -> tuple[int, int]:
        wire.send(post("/v1/chat/completions", body))
        return (await wire.reply()).status, len(provider.log)

    assert through_relay(act) == (400, 0)


def test_what_is_not_http_gets_a_400_and_the_end() -> None:
    async def act(_: FakeProvider, wire: Wire) -> tuple[int, str]:
        wire.send(b"\x00\x00\r\n\r\n")
        return (await wire.reply()).status, await wire.end()

    assert through_relay(act) == (400, "fin")


def test_liveness_needs_no_provider() -> None:
    async def act(provider: FakeProvider, wire: Wire) -> tuple[int, int]:
        wire.send(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n")
        return (await wire.reply()).status, len(provider.log)

    assert through_relay(act) == (200, 0)


def test_connection_close_is_obeyed() -> None:
    async def act(_: FakeProvider, wire: Wire) -> tuple[int, str]:
        wire.send(chat_request(headers=(("connection", "close"),)))
        return (await wire.reply()).status, await wire.end()

    assert through_relay(act) == (200, "fin")
