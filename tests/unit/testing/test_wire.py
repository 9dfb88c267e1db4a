"""The raw client sees what really comes back; what it sends is what it was given."""

import asyncio
from collections.abc import Callable

import pytest

from pointsman.testing import FakeProvider, Hang, Raw, Truncated
from pointsman.testing.wire import Reply, Wire, chat_request, post


def test_chat_request_is_a_post_with_its_length() -> None:
    request = chat_request("m", headers=(("x-a", "1"),), stream=True)

    head, _, body = request.partition(b"\r\n\r\n")
    assert head.splitlines() == [
        b"POST /v1/chat/completions HTTP/1.1",
        b"host: test",
        b"content-length: %d" % len(body),
        b"x-a: 1",
    ]
    assert body == b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}'


def test_post_takes_any_path_and_body() -> None:
    assert post("/x", b"\x00") == b"POST /x HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\n\r\n\x00"


def test_header_of_a_reply_is_found_in_any_case() -> None:
    reply = Reply(200, [(b"X-A", b"1"), (b"x-a", b"2")], [b'{"a"', b":1}"])

    assert (reply.header("x-A"), reply.header("b"), reply.json()) == (b"1", None, {"a": 1})


def test_reply_that_is_not_complete_is_none(run: Callable) -> None:
    async def waiting() -> bool:
        async with FakeProvider(default=Truncated(then="stall")) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(chat_request())
                await wire.received_bytes(1)
                reply = asyncio.ensure_future(wire.reply())
                await wire.is_silent(0.05)
                is_waiting = not reply.done()
                reply.cancel()
                return is_waiting

    assert run(waiting())


def test_bytes_that_are_not_http_are_kept_as_they_came(run: Callable) -> None:
    async def received() -> bytes:
        async with FakeProvider(default=Raw((b"\x00junk", b"more"), gap_s=0.01)) as provider:
            async with await Wire.open(provider.base_url) as wire:
                wire.send(chat_request())
                await wire.end()
                return bytes(wire.received)

    assert run(received()) == b"\x00junkmore"


@pytest.mark.parametrize(("answer", "is_silent"), [(Hang(), True), (Raw((b"x",), then="stall", delay_s=0.02), False)])
def test_silence_is_told_from_an_answer(run: Callable, answer: Hang | Raw, is_silent: bool) -> None:
    async def heard() -> bool:
        async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(chat_request())
            return await wire.is_silent(0.1)

    assert run(heard()) is is_silent
