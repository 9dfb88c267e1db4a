"""What a client really sees of every answer: its bytes, and the way the connection ends."""

from collections.abc import Callable

import msgspec
import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import (
    Answer,
    Chat,
    CloseEarly,
    Events,
    FakeProvider,
    Hang,
    Json,
    Raw,
    Status,
    ToolCall,
    Truncated,
)
from pointsman.testing.wire import Reply, Wire, chat_request

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
SILENCE_S = 0.05
UNARY, STREAMED = chat_request(), chat_request(stream=True)
TWO_EVENTS = (b"data: 1\n\n", {"a": 2})
TWO_EVENTS_SENT = STREAM_HEAD + b"9\r\ndata: 1\n\n\r\n" + b'f\r\ndata: {"a":2}\n\n\r\n'
DONE_SENT = b"e\r\ndata: [DONE]\n\n\r\n"
ANNOUNCED = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n123"


async def replies_to(answer: Answer, request: bytes = UNARY, count: int = 1) -> list[Reply]:
    async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
        wire.send(request)
        return [await wire.reply() for _ in range(count)]


async def bytes_until_the_end(answer: Answer, request: bytes = UNARY) -> tuple[bytes, str]:
    async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
        wire.send(request)
        ending = await wire.end()
        return bytes(wire.received), ending


async def bytes_before_silence(answer: Answer, count: int, request: bytes = UNARY) -> tuple[bytes, bool]:
    async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
        wire.send(request)
        await wire.received_bytes(count)
        is_silent = await wire.is_silent(SILENCE_S)
        return bytes(wire.received), is_silent and wire.ended is None


def events_of(reply: Reply) -> list[dict]:
    datas = [line.removeprefix(b"data: ") for line in reply.body.split(b"\n\n") if line]
    assert datas.pop() == b"[DONE]"
    return [msgspec.json.decode(data) for data in datas]


# --- proper answers


def test_unary_answer_is_a_completion_with_its_length(run: Callable) -> None:
    (reply,) = run(replies_to(Chat("hello there")))

    assert reply.status == 200
    assert reply.header("content-type") == b"application/json"
    assert reply.header("content-length") == b"%d" % len(reply.body)
    assert reply.json()["choices"][0]["message"]["content"] == "hello there"
    assert reply.json()["model"] == "m"


def test_streamed_answer_brings_a_role_then_word_by_word_then_the_reason_and_done(run: Callable) -> None:
    (reply,) = run(replies_to(Chat("one two  three"), STREAMED))

    choices = [event["choices"][0] for event in events_of(reply)]
    assert [choice["delta"] for choice in choices] == [
        {"role": "assistant", "content": ""},
        {"content": "one "},
        {"content": "two  "},
        {"content": "three"},
        {},
    ]
    assert [choice["finish_reason"] for choice in choices] == [None, None, None, None, "stop"]


def test_streamed_answer_keeps_the_connection(run: Callable) -> None:
    async def two_streams_on_one_connection() -> int:
        async with FakeProvider() as provider, await Wire.open(provider.base_url) as wire:
            for _ in range(2):
                wire.send(STREAMED)
                await wire.reply()
            return provider.connections_accepted

    assert run(two_streams_on_one_connection()) == 1


def test_stream_states_usage_only_if_asked(run: Callable) -> None:
    asking = chat_request(stream=True, stream_options={"include_usage": True})

    (without,) = run(replies_to(Chat("a b"), STREAMED))
    (with_usage,) = run(replies_to(Chat("a b", usage=Usage(input_tokens=7, output_tokens=9)), asking))

    assert not any("usage" in event for event in events_of(without))
    *before, last = events_of(with_usage)
    assert {event["usage"] for event in before} == {None}
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}


@pytest.mark.parametrize("request_bytes", [UNARY, chat_request(stream=True, stream_options={"include_usage": True})])
def test_provider_that_states_no_usage_states_none(run: Callable, request_bytes: bytes) -> None:
    (reply,) = run(replies_to(Chat("a", usage=None), request_bytes))

    assert b"prompt_tokens" not in reply.body


def test_tool_calls_are_whole_in_a_unary_answer(run: Callable) -> None:
    (reply,) = run(replies_to(Chat("", tool_calls=(ToolCall("look", '{"x":1}'),))))

    (choice,) = reply.json()["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"x":1}'}


def test_status_is_an_openai_error_with_its_retry_after(run: Callable) -> None:
    (reply,) = run(replies_to(Status(429, "slow down", retry_after=1.5)))

    assert reply.status == 429
    assert reply.header("retry-after") == b"1.5"
    assert reply.json()["error"]["message"] == "slow down"
    assert reply.json()["error"]["type"] == "rate_limit_error"


def test_status_may_have_any_body_and_type(run: Callable) -> None:
    (reply,) = run(replies_to(Status(529, body=b"<html>", content_type="text/html")))

    assert (reply.status, reply.body, reply.header("content-type")) == (529, b"<html>", b"text/html")


def test_json_is_any_payload_under_any_status(run: Callable) -> None:
    (reply,) = run(replies_to(Json(202, {"queued": True})))

    assert (reply.status, reply.json()) == (202, {"queued": True})


def test_given_header_replaces_the_usual_one_and_others_are_added(run: Callable) -> None:
    (reply,) = run(replies_to(Chat(headers=(("Content-Type", "text/plain"), ("x-request-id", "r1")))))

    assert [value for name, value in reply.headers if name.lower() == b"content-type"] == [b"text/plain"]
    assert reply.header("x-request-id") == b"r1"


# --- exact bytes


@pytest.mark.parametrize(
    ("then", "tail"), [("done", DONE_SENT + b"0\r\n\r\n"), ("end", b"0\r\n\r\n")], ids=["done", "end"]
)
def test_events_that_end_properly_are_exactly_these_bytes(run: Callable, then: str, tail: bytes) -> None:
    expected = TWO_EVENTS_SENT + tail

    received, is_open = run(bytes_before_silence(Events(TWO_EVENTS, then=then), len(expected)))

    assert received == expected
    assert is_open


@pytest.mark.parametrize(("then", "ending"), [("cut", "fin"), ("reset", "rst")])
def test_events_that_break_off_end_without_the_last_chunk(run: Callable, then: str, ending: str) -> None:
    received, ended = run(bytes_until_the_end(Events(TWO_EVENTS, then=then)))

    assert (received, ended) == (TWO_EVENTS_SENT, ending)


def test_events_that_stall_leave_the_connection_open_and_silent(run: Callable) -> None:
    received, is_open = run(bytes_before_silence(Events(TWO_EVENTS, then="stall"), len(TWO_EVENTS_SENT)))

    assert received == TWO_EVENTS_SENT
    assert is_open


def test_events_can_come_byte_by_byte(run: Callable) -> None:
    (reply,) = run(replies_to(Events((b"data: 1\n\n",), then="end", split=1)))

    assert reply.chunks == [b"%c" % byte for byte in b"data: 1\n\n"]


@pytest.mark.parametrize(("then", "ending"), [("cut", "fin"), ("reset", "rst")])
def test_truncated_body_announces_more_than_it_sends(run: Callable, then: str, ending: str) -> None:
    received, ended = run(bytes_until_the_end(Truncated("hello", sent_bytes=12, then=then)))

    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.rpartition(b"content-length: ")[2])
    assert (len(body), ended) == (12, ending)
    assert length > 100


def test_truncated_body_is_half_of_the_announced_one_by_default(run: Callable) -> None:
    received, _ = run(bytes_until_the_end(Truncated()))

    head, _, body = received.partition(b"\r\n\r\n")
    assert len(body) == int(head.rpartition(b"content-length: ")[2]) // 2


def test_truncated_body_may_stall(run: Callable) -> None:
    _, is_open = run(bytes_before_silence(Truncated(then="stall"), 1))

    assert is_open


@pytest.mark.parametrize(("then", "ending"), [("close", "fin"), ("reset", "rst")])
@pytest.mark.parametrize("pieces", [(ANNOUNCED,), (b"HTTP/1.1 2", b"00 OK\r\n"), (b"\x00\xff not HTTP",), (b"",)])
def test_raw_pieces_go_out_as_they_are(run: Callable, pieces: tuple[bytes, ...], then: str, ending: str) -> None:
    received, ended = run(bytes_until_the_end(Raw(pieces, then=then)))

    assert (received, ended) == (b"".join(pieces), ending)


def test_raw_pieces_may_stall(run: Callable) -> None:
    received, is_open = run(bytes_before_silence(Raw((ANNOUNCED,), then="stall"), len(ANNOUNCED)))

    assert received == ANNOUNCED
    assert is_open


def test_an_unsolicited_answer_comes_on_an_idle_connection(run: Callable) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    unsolicited = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"

    asked, unasked = run(replies_to(Raw((answer, unsolicited), then="keep", gap_s=0.02), count=2))

    assert (asked.status, unasked.status) == (200, 408)


@pytest.mark.parametrize(("reset", "ending"), [(False, "fin"), (True, "rst")])
def test_close_early_sends_nothing(run: Callable, reset: bool, ending: str) -> None:
    assert run(bytes_until_the_end(CloseEarly(reset=reset))) == (b"", ending)


def test_hang_never_answers(run: Callable) -> None:
    assert run(bytes_before_silence(Hang(), 0)) == (b"", True)


# --- time


@pytest.mark.parametrize(
    "answer", [Chat(delay_s=0.1), Status(500, delay_s=0.1), Events((), delay_s=0.1), Raw((b"x",), delay_s=0.1)]
)
def test_delay_is_silence_before_the_first_byte(run: Callable, answer: Answer) -> None:
    async def silent_then_answered() -> tuple[bool, bytes]:
        async with FakeProvider(default=answer) as provider, await Wire.open(provider.base_url) as wire:
            wire.send(UNARY)
            was_silent = await wire.is_silent(0.05)
            return was_silent, await wire.received_bytes(1)

    was_silent, received = run(silent_then_answered())

    assert was_silent
    assert received
