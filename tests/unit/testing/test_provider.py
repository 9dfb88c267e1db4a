"""The provider as a whole: its log, its script, its limits, and that nothing is left behind."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from pointsman.testing import (
    Answer,
    Capacity,
    Chat,
    Events,
    FakeClock,
    FakeProvider,
    Hang,
    Received,
    Status,
    refused_port,
    stream_of,
)
from pointsman.testing.player import reset
from pointsman.testing.wire import Reply, Wire, chat_request, post

REQUEST = chat_request()


async def ask(provider: FakeProvider, *requests: bytes) -> list[Reply]:
    async with await Wire.open(provider.base_url) as wire:
        replies = []
        for request in requests or (REQUEST,):
            wire.send(request)
            replies.append(await wire.reply())
        return replies


def text_of(reply: Reply) -> str:
    return reply.json()["choices"][0]["message"]["content"]


# --- the log


def test_log_holds_the_request_as_sent(run: Callable) -> None:
    clock = FakeClock(now=50.0)

    async def logged() -> Received:
        async with FakeProvider(clock=clock) as provider:
            await ask(provider, post("/v1/chat/completions?a=1", b'{"model": "m"}', (("X-Mixed", "Case"),)))
            return provider.log[0]

    received = run(logged())

    assert (received.method, received.path, received.body) == ("POST", "/v1/chat/completions?a=1", b'{"model": "m"}')
    assert received.headers == [(b"host", b"test"), (b"content-length", b"14"), (b"X-Mixed", b"Case")]
    assert received.header("x-mixed") == b"Case"
    assert received.header("absent") is None
    assert received.json() == {"model": "m"}
    assert (received.connection, received.number, received.received_at) == (1, 1, 50.0)
    assert received.answered


def test_time_of_leaving_is_by_the_providers_clock(run: Callable) -> None:
    clock = FakeClock(now=50.0)

    async def left() -> Received:
        async with FakeProvider(clock=clock, default=Hang()) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(REQUEST)
                await provider.until(lambda: bool(provider.log))
                clock.advance(5.0)
            await provider.until(lambda: not provider.open_connections)
            return provider.log[0]

    assert run(left()).closed_at == 55.0


def test_connections_are_counted_from_one(run: Callable) -> None:
    async def numbers() -> tuple[list[int], int]:
        async with FakeProvider() as provider:
            await ask(provider)
            await ask(provider)
            return [received.connection for received in provider.log], provider.connections_accepted

    assert run(numbers()) == ([1, 2], 2)


@pytest.mark.parametrize(("limit", "kept"), [(None, [1, 2, 3, 4]), (2, [3, 4]), (10, [1, 2, 3, 4]), (0, [])])
def test_log_keeps_the_latest_requests_and_their_numbers(run: Callable, limit: int | None, kept: list[int]) -> None:
    async def numbers() -> list[int]:
        async with FakeProvider(log_limit=limit) as provider:
            await ask(provider, *[REQUEST] * 4)
            return [received.number for received in provider.log]

    assert run(numbers()) == kept


def test_request_that_the_log_forgot_is_still_answered(run: Callable) -> None:
    async def statuses() -> list[int]:
        async with FakeProvider(log_limit=1, default=Chat(delay_s=0.02)) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(REQUEST * 3)
                return [(await wire.reply()).status for _ in range(3)]

    assert run(statuses()) == [200, 200, 200]


# --- which answer


def test_script_comes_first_then_answer_for_then_default(run: Callable) -> None:
    def by_number(received: Received) -> Answer:
        return Chat(f"number {received.number}")

    async def texts() -> list[str]:
        async with FakeProvider(default=Chat("default")) as provider:
            provider.script(Chat("scripted"))
            replies = await ask(provider, *[REQUEST] * 2)
            provider.answer_for = by_number
            return [text_of(reply) for reply in (*replies, *await ask(provider))]

    assert run(texts()) == ["scripted", "default", "number 3"]


def test_unused_answers_are_counted(run: Callable) -> None:
    async def unused() -> int:
        async with FakeProvider() as provider:
            provider.script(Chat(), Chat(), Chat())
            await ask(provider)
            return provider.unused_answers

    assert run(unused()) == 2


def test_answer_names_provider_and_request(run: Callable) -> None:
    async def payload() -> dict:
        async with FakeProvider(name="swift", clock=FakeClock(utc=1_700_000_000.5)) as provider:
            return (await ask(provider))[0].json()

    answer = run(payload())

    assert (answer["id"], answer["created"]) == ("chatcmpl-swift-1", 1_700_000_000)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"stream": "yes"}'])
def test_chat_request_that_is_none_gets_a_400_and_takes_no_answer(run: Callable, body: bytes) -> None:
    async def refused() -> tuple[int, int]:
        async with FakeProvider() as provider:
            provider.script(Chat())
            (reply,) = await ask(provider, post("/v1/chat/completions", body))
            return reply.status, provider.unused_answers

    assert run(refused()) == (400, 1)


def test_models_are_listed(run: Callable) -> None:
    async def listed() -> list[str]:
        async with FakeProvider(name="swift") as provider:
            (reply,) = await ask(provider, b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n")
            return [row["owned_by"] for row in reply.json()["data"]]

    assert run(listed()) == ["swift"]


@pytest.mark.parametrize("request_bytes", [post("/v1/other", b"{}"), b"GET /v1/chat/completions HTTP/1.1\r\n\r\n"])
def test_any_other_path_is_not_found(run: Callable, request_bytes: bytes) -> None:
    async def missing() -> int:
        async with FakeProvider() as provider:
            return (await ask(provider, request_bytes))[0].status

    assert run(missing()) == 404


# --- the request limit


def test_above_capacity_comes_a_429_with_true_headers_and_the_script_is_untouched(run: Callable) -> None:
    clock = FakeClock()

    async def limited() -> tuple[list[Reply], int]:
        async with FakeProvider(capacity=Capacity(per_second=0.5, burst=2), clock=clock) as provider:
            provider.script(*[Chat()] * 3)
            return await ask(provider, *[REQUEST] * 3), provider.unused_answers

    replies, unused = run(limited())

    assert [reply.status for reply in replies] == [200, 200, 429]
    assert [reply.header("x-ratelimit-limit-requests") for reply in replies] == [b"2", b"2", b"2"]
    assert [reply.header("x-ratelimit-remaining-requests") for reply in replies] == [b"1", b"0", b"0"]
    assert [reply.header("x-ratelimit-reset-requests") for reply in replies] == [b"2s", b"4s", b"4s"]
    assert [reply.header("retry-after") for reply in replies] == [None, None, b"2"]
    assert replies[2].json()["error"]["code"] == "rate_limit_exceeded"
    assert unused == 1


def test_after_the_stated_time_there_is_room_again(run: Callable) -> None:
    clock = FakeClock()

    async def statuses() -> list[int]:
        async with FakeProvider(capacity=Capacity(per_second=0.5, burst=1), clock=clock) as provider:
            found = []
            for step_s in (0.0, 1.9, 0.1):
                clock.advance(step_s)
                found.append((await ask(provider))[0].status)
            return found

    assert run(statuses()) == [200, 429, 200]


def test_limit_is_told_in_streams_and_errors_too(run: Callable) -> None:
    async def told() -> list[bytes | None]:
        async with FakeProvider(capacity=Capacity(1, 5), clock=FakeClock()) as provider:
            provider.script(stream_of("a"), Status(500))
            replies = await ask(provider, REQUEST, REQUEST)
            return [reply.header("x-ratelimit-remaining-requests") for reply in replies]

    assert run(told()) == [b"4", b"3"]


# --- its life


def test_stop_leaves_no_task_and_no_socket(run: Callable) -> None:
    async def left_behind() -> tuple[int, int, str]:
        provider = FakeProvider()
        await provider.start()
        provider.script(Hang(), Chat(delay_s=30), stream_of("a", then="stall"), stream_of("a", "b", gap_s=30))
        wires = [await Wire.open(provider.base_url) for _ in range(5)]  # the last one stays idle
        for wire in wires[:4]:
            wire.send(REQUEST)
        await provider.until(lambda: len(provider.log) == 4)
        await provider.stop()
        endings = {await wire.end() for wire in wires}
        return len(asyncio.all_tasks()), provider.open_connections, *endings

    assert run(left_behind())[:2] == (1, 0)


def test_stopped_requests_do_not_count_as_left_by_the_peer(run: Callable) -> None:
    async def stopped() -> Received:
        async with FakeProvider(default=Hang()) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(REQUEST)
            await provider.until(lambda: bool(provider.log))
            await provider.stop()
            return provider.log[0]

    received = run(stopped())

    assert received.closed_at is None
    assert not received.answered


def test_after_stop_connections_are_refused_and_start_takes_the_same_port(run: Callable) -> None:
    async def again() -> tuple[str, str, int]:
        provider = FakeProvider()
        await provider.start()
        before = provider.base_url
        await provider.stop()
        with pytest.raises(OSError, match=r"[Cc]onnect"):
            await Wire.open(before)
        async with provider:
            return before, provider.base_url, (await ask(provider))[0].status

    before, after, status = run(again())

    assert before == after
    assert status == 200


def test_stopping_twice_or_before_the_start_does_no_harm(run: Callable) -> None:
    async def stop_often() -> None:
        provider = FakeProvider()
        await provider.stop()
        await provider.start()
        await provider.stop()
        await provider.stop()

    run(stop_often())


def test_until_raises_when_it_never_comes_true(run: Callable) -> None:
    async def never() -> None:
        async with FakeProvider() as provider:
            await provider.until(lambda: False, patience_s=0.02)

    with pytest.raises(TimeoutError):
        run(never())


def test_refused_port_refuses() -> None:
    with refused_port() as base_url:
        parts = urlsplit(base_url)

        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((parts.hostname or "", parts.port or 0), timeout=1).close()


# --- TLS


async def over_tls(answer: Answer, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> tuple[str, bytes]:
    async with FakeProvider(tls=server_tls, default=answer) as provider:
        port = urlsplit(provider.base_url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client_tls)
        writer.write(chat_request(stream=True, headers=(("connection", "close"),)))
        async with asyncio.timeout(2):
            received = await reader.read()
        writer.close()
        return urlsplit(provider.base_url).scheme, received


def test_answers_come_over_tls(run: Callable, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    scheme, received = run(over_tls(Chat("a b"), server_tls, client_tls))

    assert scheme == "https"
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_peer_that_resets_a_tls_connection_is_noticed(
    run: Callable, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async def left() -> bool:
        async with FakeProvider(tls=server_tls, default=Hang()) as provider:
            port = urlsplit(provider.base_url).port
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client_tls)
            writer.write(REQUEST)
            await provider.until(lambda: bool(provider.log))
            reset(writer.transport)
            await provider.until(lambda: not provider.open_connections)
            return provider.log[0].closed.is_set()

    assert run(left())


@pytest.mark.parametrize("then", ["cut", "reset"])
def test_stream_breaks_off_over_tls_after_its_last_byte(
    run: Callable, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, then: str
) -> None:
    async def broken() -> bytes:
        answer = Events((b"data: %b\n\n" % (b"~" * 100_000),) * 20, then=then)
        async with FakeProvider(tls=server_tls, default=answer) as provider:
            port = urlsplit(provider.base_url).port
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client_tls)
            writer.write(REQUEST)
            received = b""
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(2):
                    while piece := await reader.read(65_536):
                        received += piece
            writer.close()
            return received

    received = run(broken())

    assert received.count(b"~") == 2_000_000 if then == "cut" else received.count(b"~") > 0
    assert not received.endswith(b"0\r\n\r\n")
