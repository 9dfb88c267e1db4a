"""Providers that break the rules of HTTP, on purpose or by accident: no caller is told a failure is a success."""

import asyncio
import gzip
import itertools
import json
import random
import socket
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from pointsman.domain.policy import Timeouts
from pointsman.http1.limits import UpstreamLimits
from pointsman.testing import Answer, Chat, Events, FakeProvider, Raw, Received, Status, chat, stream_of
from pointsman.testing.script import EVENT_STREAM_HEADERS, JSON_TYPE, chunk, head
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import DONE, ask, ask_all, asks, tally, text_of, to_pairs
from tests.integration.harness import At, eventually, group, open_fds, pairs, raw_server
from tests.unit.http1.bad_answers import REFUSED

FINE = Chat("from b")
WHOLE = json.dumps(chat.completion("from a", to=chat.NOTHING_SPECIAL)).encode()
SAID = chat.sse(chat.chunk(chat.text_delta("from a")))
STOPPED = chat.sse(chat.chunk({}, finish_reason="stop"))
STREAM = SAID + STOPPED + DONE
CLOSING_1_1, CLOSING_1_0 = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200 OK\r\n"
JSON, SSE = b"content-type: application/json\r\n\r\n", b"content-type: text/event-stream\r\n\r\n"


def numbered(answers: Sequence[Answer]) -> Any:
    """The answer to model `m-7` is `answers[7]`."""

    def answer(received: Received) -> Answer:
        return answers[int(json.loads(received.body)["model"].removeprefix("m-"))]

    return answer


@pytest.fixture
def told(run: Any, gateway: Any) -> Any:
    """`told(answers, True)`: what callers hear where one provider gives each of these answers, and another is fine."""

    def of(answers: Sequence[Answer], *streams: bool, **sections: Any) -> list[tuple[int, str]]:
        async def scenario() -> list[tuple[int, str]]:
            async with (
                FakeProvider(name="a", answer_for=numbered(answers)) as a,
                FakeProvider(name="b", default=FINE) as b,
                gateway(a, b, groups=pairs("a", "b", len(answers)), **sections) as gw,
            ):
                replies = [await ask(gw.base_url, request) for request in to_pairs(len(answers), *streams)]
                assert len(a.log) == len(replies)
                return [(reply.status, text_of(reply)) for reply in replies]

        return list(run(scenario()))

    return of


@pytest.fixture
def unhandled(run: Any) -> list[Mapping[str, Any]]:
    """What the loop was told of exceptions that nobody caught."""
    found: list[Mapping[str, Any]] = []

    async def listen() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))

    run(listen())
    return found


# --- what is no HTTP


@pytest.mark.case("T12", "T13", "T15", "T17")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_an_answer_that_is_no_proper_http_is_replaced_by_another_targets(
    told: Any, unhandled: list[Mapping[str, Any]], *, stream: bool
) -> None:
    answers = [Raw((raw,), then="stall") for raw in REFUSED.values()]

    assert told(answers, stream) == [(200, "from b")] * len(REFUSED)
    assert unhandled == []


@pytest.mark.case("T12")
def test_an_answer_that_is_no_proper_http_is_a_502_where_nobody_else_can_answer(run: Any, gateway: Any) -> None:
    groups = {f"chat-{at}": {"targets": [{"model": f"a/m-{at}"}]} for at in range(len(REFUSED))}
    answers = [Raw((raw,), then="stall") for raw in REFUSED.values()]

    async def scenario() -> tuple[list[Reply], list[dict[str, Any]]]:
        async with FakeProvider(name="a", answer_for=numbered(answers)) as a, gateway(a, groups=groups) as gw:
            replies = [await ask(gw.base_url, request) for request in to_pairs(len(REFUSED), False)]
            assert a.open_connections == 0
            return replies, await gw.records()

    replies, records = run(scenario())

    assert {(reply.status, reply.json()["error"]["code"]) for reply in replies} == {(502, "upstream_error")}
    assert {attempt["detail"] for record in records for attempt in record["attempts"]} == {"protocol"}


@pytest.mark.case("T17", "I25")
def test_a_head_and_trailers_without_end_are_read_up_to_their_limit_only(run: Any, gateway: Any) -> None:
    line = b"x-%b: y\r\n" % (b"x" * 1_000)
    endless = {
        "head": (b"HTTP/1.1 200 OK\r\n", *[line] * 20_000),
        "trailers": (head(200, (JSON_TYPE, ("transfer-encoding", "chunked"))) + b"1\r\n{\r\n0\r\n", *[line] * 20_000),
    }
    written: Counter[str] = Counter()

    def counted(name: str) -> Iterator[bytes]:
        for piece in endless[name]:
            written[name] += len(piece)
            yield piece

    async def scenario() -> list[Reply]:
        answers = [Raw(counted(name), then="stall", gap_s=1e-9) for name in endless]  # type: ignore[arg-type]
        async with FakeProvider(name="a", answer_for=numbered(answers)) as a, FakeProvider(name="b", default=FINE) as b:
            async with gateway(a, b, groups=pairs("a", "b", len(answers))) as gw:
                return [await ask(gw.base_url, request) for request in to_pairs(len(answers), False)]

    assert tally(run(scenario())) == {(200, "from b"): 2}
    slack = 8 * 1024 * 1024  # of the kernel's buffers
    assert {name: size < UpstreamLimits().head_bytes + slack for name, size in written.items()} == dict.fromkeys(
        endless, True
    )


# --- answers that the close ends

JSON_ENDS: dict[str, tuple[bytes, bool]] = {
    "whole": (WHOLE, True),
    "whole, with a line after it": (WHOLE + b"\n", True),
    "a byte short": (WHOLE[:-1], False),
    "half": (WHOLE[: len(WHOLE) // 2], False),
    "one byte": (WHOLE[:1], False),
    "nothing": (b"", False),
    "a page": (b"<html>from a</html>", False),
    "two answers": (WHOLE * 2, False),
}
STREAM_ENDS: dict[str, tuple[bytes, bool]] = {
    "whole": (STREAM, True),
    "terminator without its last line": (STREAM[:-1], True),
    "no terminator": (SAID + STOPPED, False),
    "no finish and no terminator": (SAID, False),
    "cut within the terminator": (STREAM[:-4], False),
    "cut within an event": (SAID + STOPPED[:-9], False),
    "nothing": (b"", False),
}


@pytest.mark.case("T16", "I12")
@pytest.mark.parametrize("first", [CLOSING_1_1, CLOSING_1_0], ids=["HTTP/1.1", "HTTP/1.0"])
def test_an_answer_that_the_close_ends_is_taken_only_if_it_is_whole_json(told: Any, first: bytes) -> None:
    answers = [Raw((first + JSON + body,)) for body, _ in JSON_ENDS.values()]

    found = told(answers, False)

    assert found == [(200, "from a" if is_whole else "from b") for _, is_whole in JSON_ENDS.values()]


@pytest.mark.bug("E-13")
@pytest.mark.case("T16", "I12")
@pytest.mark.parametrize("first", [CLOSING_1_1, CLOSING_1_0], ids=["HTTP/1.1", "HTTP/1.0"])
@pytest.mark.parametrize(("body", "is_whole"), STREAM_ENDS.values(), ids=STREAM_ENDS)
def test_a_stream_that_the_close_ends_is_a_success_only_with_its_terminator(
    run: Any, gateway: Any, first: bytes, body: bytes, *, is_whole: bool
) -> None:
    async def scenario() -> tuple[Reply, dict[str, Any]]:
        async with FakeProvider(name="a", default=Raw((first + SSE + body,))) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, chat_request("chat", stream=True))
            return reply, (await gw.records())[0]

    reply, record = run(scenario())

    ends_well = reply.status == 200 and b'"error"' not in reply.body and b'"stop"' in reply.body
    assert (ends_well, record["reason"] == "ok") == (is_whole, is_whole)


@pytest.mark.case("T11")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize("sent", ["nothing", "half of a head", "a head", "half of a body"])
def test_an_upstream_that_says_it_has_nothing_more_to_say_is_not_waited_for(
    run: Any, gateway: Any, sent: str, *, stream: bool
) -> None:
    begun = head(200, EVENT_STREAM_HEADERS) if stream else head(200, (JSON_TYPE, ("content-length", "900")))
    body = chunk(chat.sse(chat.chunk(chat.role_delta()))) if stream else WHOLE[:40]
    bytes_sent = {"nothing": b"", "half of a head": begun[:30], "a head": begun, "half of a body": begun + body}[sent]

    async def half_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(bytes_sent)
        writer.write_eof()
        await reader.read()
        await reader.read()  # goes on listening until the other side has closed, too
        writer.close()

    async def scenario() -> tuple[Reply, float]:
        async with raw_server(half_close) as a, FakeProvider(name="b", default=FINE) as b:
            async with gateway(a, b) as gw:
                began = time.monotonic()
                reply = await ask(gw.base_url, chat_request("chat", stream=stream))
                return reply, time.monotonic() - began

    reply, took_s = run(scenario())

    assert (reply.status, text_of(reply)) == (200, "from b")
    assert took_s < 1.0


# --- compression that nobody asked for


def compressed(body: bytes, content_type: str, coding: str) -> Raw:
    """A message of these bytes, whole by the rules of HTTP."""
    headers = (("content-type", content_type), ("content-encoding", coding), ("content-length", str(len(body))))
    return Raw((head(200, headers) + body,), then="keep")


def stored(raw: bytes) -> bytes:
    """Gzip that compresses nothing: its bytes hold the text as it was."""
    packer = zlib.compressobj(level=0, wbits=31)
    return packer.compress(raw) + packer.flush()


NOISE = random.Random(7).randbytes(1_500).hex()
LONG = json.dumps(chat.completion(f"from a {NOISE}", to=chat.NOTHING_SPECIAL)).encode()


@pytest.mark.bug("I-06")
@pytest.mark.case("T18", "I12")
def test_a_compressed_answer_cut_anywhere_is_never_taken(told: Any) -> None:
    packed = gzip.compress(LONG, mtime=0)
    answers = [compressed(packed[:size], "application/json", "gzip") for size in range(0, len(packed) + 1, 2)]

    assert set(told(answers, False)) == {(200, "from b")}


@pytest.mark.bug("I-06")
@pytest.mark.case("T18", "I12")
def test_a_stream_that_holds_its_events_within_a_compression_is_never_taken(told: Any) -> None:
    packed = stored(SAID * 3 + STREAM)
    answers = [compressed(packed[:size], "text/event-stream", "gzip") for size in range(0, len(packed) + 1, 4)]
    answers.append(compressed(packed, "text/event-stream", "gzip"))

    assert set(told(answers, True)) == {(200, "from b")}


@pytest.mark.bug("I-06")
@pytest.mark.case("T18")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_no_coding_is_undone_and_none_is_passed_on(run: Any, gateway: Any, *, stream: bool) -> None:
    plain, kind = (STREAM, "text/event-stream") if stream else (WHOLE, "application/json")
    bodies = {
        "gzip": gzip.compress(plain),
        "GZIP": stored(plain)[:-3],
        "x-gzip": stored(plain),
        "deflate": zlib.compress(plain),
        "br": b"\x0b\x02\x80" + plain,
        "zstd": b"\x28\xb5\x2f\xfd" + plain,
        "gzip, br": gzip.compress(gzip.compress(plain)),
    }
    answers = [compressed(body, kind, coding) for coding, body in bodies.items()]
    groups = {f"chat-{at}": {"targets": [{"model": f"a/m-{at}"}]} for at in range(len(answers))}

    async def scenario() -> tuple[list[Reply], list[dict[str, Any]], set[bytes | None]]:
        async with FakeProvider(name="a", answer_for=numbered(answers)) as a, gateway(a, groups=groups) as gw:
            replies = [await ask(gw.base_url, request) for request in to_pairs(len(answers), stream)]
            return replies, await gw.records(), {each.header("accept-encoding") for each in a.log}

    replies, records, asked_for = run(scenario())

    assert {(reply.status, reply.header("content-encoding")) for reply in replies} == {(502, None)}
    assert {attempt["detail"] for record in records for attempt in record["attempts"]} == {"encoded"}
    assert asked_for == {b"identity"}


@pytest.mark.bug("I-06")
@pytest.mark.case("T18")
def test_an_error_that_comes_compressed_keeps_its_meaning_and_loses_its_coding(run: Any, gateway: Any) -> None:
    body = gzip.compress(json.dumps(chat.error(400, "too hot")).encode())
    encoded = Status(400, body=body, headers=(("content-encoding", "gzip"),))

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=encoded) as a, gateway(a) as gw:
            return await ask(gw.base_url, chat_request("chat"))

    reply = run(scenario())

    assert (reply.status, reply.header("content-encoding")) == (400, None)
    assert reply.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.case("T18")
def test_identity_is_no_coding(told: Any) -> None:
    answers = [compressed(WHOLE, "application/json", "identity")]

    assert told(answers, False) == [(200, "from a")]
    assert told([compressed(STREAM, "text/event-stream", "Identity")], True) == [(200, "from a")]


# --- answers without end


@pytest.mark.case("T19", "I25")
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_an_answer_of_a_gigabyte_is_given_up_at_its_limit(run: Any, gateway: Any, framing: str) -> None:
    size, piece = 1 << 30, b"1" * (1 << 20)
    lines = ("content-length", str(size)) if framing == "length" else ("transfer-encoding", "chunked")
    written = 0

    def pieces() -> Iterator[bytes]:
        nonlocal written
        yield head(200, (JSON_TYPE, lines))
        for _ in range(size // len(piece)):
            written += len(piece)
            yield piece if framing == "length" else chunk(piece)

    async def scenario() -> tuple[Reply, float]:
        answers = [Raw(pieces(), gap_s=1e-9)]  # type: ignore[arg-type]  # a turn for each: written when it leaves
        async with FakeProvider(name="a", answer_for=numbered(answers)) as a, FakeProvider(name="b", default=FINE) as b:
            async with gateway(a, b, groups=pairs("a", "b", 1)) as gw:
                began = time.monotonic()
                reply = await ask(gw.base_url, chat_request("chat-0"), patience_s=10.0)
                return reply, time.monotonic() - began

    reply, took_s = run(scenario())

    assert (reply.status, text_of(reply)) == (200, "from b")
    assert written < UpstreamLimits().unary_bytes + 16 * len(piece)
    assert took_s < 2.0


@pytest.mark.case("T19")
def test_an_event_and_an_opening_without_end_are_given_up_at_their_limits(told: Any) -> None:
    limits, part = UpstreamLimits(), b"x" * (1 << 16)
    answers = [
        Events((b"data: ", *[part] * 40), then="stall"),
        Events((chat.sse(chat.chunk(chat.role_delta()) | {"pad": "x" * (1 << 16)}),) * 40, then="stall"),
        Events((b": %b\n\n" % part,) * 40, then="stall"),
    ]

    assert 40 * len(part) > 2 * max(limits.event_bytes, limits.held_bytes)
    assert told(answers, True) == [(200, "from b")] * 3


@pytest.mark.case("T10", "I23")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_a_drip_that_never_stops_ends_with_the_time_for_the_whole(run: Any, gateway: Any, *, stream: bool) -> None:
    limits = {"total": "1s", "total_stream": "1s", "idle": "500ms"}
    body = b"1" * 900
    dripping = (
        Events((SAID, *[b": \n\n"] * 200), gap_s=0.05)
        if stream
        else Raw((head(200, (JSON_TYPE, ("content-length", "900"))), *[body[:1]] * 200), gap_s=0.05)
    )

    async def scenario() -> tuple[Reply, float]:
        async with FakeProvider(name="a", default=dripping) as a, gateway(a, timeouts=limits) as gw:
            began = time.monotonic()
            reply = await ask(gw.base_url, chat_request("chat", stream=stream), patience_s=4.0)
            took_s = time.monotonic() - began
            await eventually(lambda: a.open_connections == 0)
            return reply, took_s

    reply, took_s = run(scenario())

    assert 0.9 < took_s < 3.0
    assert b'"error"' in reply.body
    assert reply.status == (200 if stream else 504)


# --- where a connection leads


@contextmanager
def black_hole() -> Iterator[At]:
    """An address where nothing answers to a connection: its queue is full."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield At("dark", f"http://127.0.0.1:{full.getsockname()[1]}/v1")


@pytest.mark.bug("F-03")
@pytest.mark.case("T02")
def test_a_target_that_swallows_connections_is_left_in_time_and_holds_up_nobody_else(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Counter[Any], float, float]:
        with black_hole() as dark:
            async with FakeProvider(name="b", default=FINE) as b:
                groups = {"chat": group(dark, b), "other": group(b)}
                async with gateway(dark, b, groups=groups, timeouts={"connect": "1s"}) as gw:
                    began = time.monotonic()
                    swallowed = asyncio.create_task(ask_all(gw.base_url, asks(10, stream=False), concurrency=10))
                    others = await ask_all(gw.base_url, asks(100, stream=False, model="other"), concurrency=5)
                    others_s = time.monotonic() - began
                    replies = await swallowed
                    return tally(replies + others), others_s, time.monotonic() - began

    answers, others_s, took_s = run(scenario())

    assert answers == {(200, "from b"): 110}
    assert others_s < 0.9 < took_s < 2.5
    assert Timeouts().connect_s <= 3.0


REDIRECTS = (301, 302, 303, 307, 308)


@pytest.mark.case("T23", "I13")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize("to", ["elsewhere", "the same host"])
def test_a_redirect_is_never_followed(run: Any, gateway: Any, to: str, *, stream: bool) -> None:
    async def scenario() -> tuple[list[int], int, int]:
        async with FakeProvider(name="evil") as evil, FakeProvider(name="a") as a:
            place = evil.base_url if to == "elsewhere" else a.base_url
            answers = [Status(code, headers=(("location", f"{place}/chat/completions"),)) for code in REDIRECTS]
            a.answer_for = numbered(answers)
            groups = {f"chat-{at}": {"targets": [{"model": f"a/m-{at}"}]} for at in range(len(answers))}
            fields = {"a": {"api_key": "sk-secret"}}
            async with gateway(a, groups=groups, provider_fields=fields) as gw:
                replies = [await ask(gw.base_url, request) for request in to_pairs(len(answers), stream)]
                return [reply.status for reply in replies], evil.connections_accepted, len(a.log)

    assert run(scenario()) == ([502] * len(REDIRECTS), 0, len(REDIRECTS))


@pytest.mark.bug("F-08")
@pytest.mark.case("T24", "T05")
def test_connections_that_the_provider_closes_early_are_no_fault_to_anybody(run: Any, gateway: Any) -> None:
    draws = random.Random(7)

    async def scenario() -> tuple[Counter[Any], int, int]:
        async with FakeProvider(name="a", default=Chat("from a"), idle_s=0.01) as a, gateway(a) as gw:
            replies: list[Reply] = []

            async def caller() -> None:
                async with await Wire.open(gw.base_url) as wire:
                    for _ in range(50):
                        wire.send(chat_request("chat"))
                        replies.append(await wire.reply())
                        await asyncio.sleep(draws.choice((0.0, 0.009, 0.0095, 0.01, 0.0105, 0.011)))  # about then

            async with asyncio.TaskGroup() as callers:
                for _ in range(10):
                    callers.create_task(caller())
            return tally(replies), a.connections_accepted, len(await gw.records())

    answers, connections, records = run(scenario())

    assert answers == {(200, "from a"): 500}
    assert records == 500
    assert connections > 50  # or else nothing went stale


@pytest.mark.case("T14", "I11")
@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.full)])
def test_alternating_callers_never_hear_what_is_left_over_from_each_other(run: Any, gateway: Any, count: int) -> None:
    """Every third answer is followed by another one, at once or a moment later."""
    foreign = head(200, (JSON_TYPE, ("content-length", "7"))) + b"foreign"

    def answer(received: Received) -> Answer:
        tag = json.loads(received.body)["messages"][0]["content"]
        body = json.dumps(chat.completion(tag, to=chat.NOTHING_SPECIAL)).encode()
        whole = head(200, (JSON_TYPE, ("content-length", str(len(body))))) + body
        pieces = ((whole,), (whole + foreign,), (whole, foreign), (whole + foreign[:9],))[received.number % 4]
        return Raw(pieces, then="keep")

    async def scenario() -> tuple[int, int]:
        async with FakeProvider(name="a", answer_for=answer) as a, gateway(a) as gw:
            wrong = 0

            async def caller(name: str) -> None:
                nonlocal wrong
                async with await Wire.open(gw.base_url) as wire:
                    for number in range(count // 10):
                        tag = f"{name}-{number}"
                        wire.send(chat_request("chat", messages=[{"role": "user", "content": tag}]))
                        wrong += text_of(await wire.reply()) != tag

            async with asyncio.TaskGroup() as callers:
                for at in range(10):
                    callers.create_task(caller(f"tenant-{at}"))
            return wrong, len(a.log)

    assert run(scenario()) == (0, count)


@pytest.mark.bug("L-08")
def test_broken_answers_leave_no_socket_open(run: Any, gateway: Any) -> None:
    answers = [Raw((raw,), then="stall") for raw in REFUSED.values()]

    async def scenario() -> tuple[int, int]:
        async with FakeProvider(name="a", answer_for=numbered(answers)) as a, FakeProvider(name="b", default=FINE) as b:
            async with gateway(a, b, groups=pairs("a", "b", len(answers))) as gw:
                await ask_all(gw.base_url, to_pairs(1, False), concurrency=1)
                await eventually(lambda: gw.callers == 0)
                before = open_fds()
                await ask_all(gw.base_url, to_pairs(len(answers), True, False), concurrency=1)
                await eventually(lambda: a.open_connections == 0)
                await eventually(lambda: gw.callers == 0)
                return before, open_fds()

    before, after = run(scenario())

    assert abs(after - before) <= 2


@pytest.mark.bug("L-02")
def test_a_stream_of_ten_thousand_chunks_makes_no_task(run: Any, gateway: Any) -> None:
    tasks: set[int] = set()

    async def scenario() -> tuple[int, Reply]:
        async with FakeProvider(name="a", default=stream_of(*["x"] * 10_000)) as a, gateway(a) as gw:
            async with await Wire.open(gw.base_url) as wire:
                wire.send(chat_request("chat", stream=True))
                await wire.received_bytes(1)
                before = len(asyncio.all_tasks())
                while not wire._replies:
                    tasks.add(len(asyncio.all_tasks()) - before)
                    await asyncio.sleep(0)
                return before, await wire.reply()

    _, reply = run(scenario())

    assert len(text_of(reply)) == 10_000
    assert tasks <= {0}


@pytest.mark.bug("E-13")
def test_an_event_is_with_the_caller_before_the_next_one_is_sent(run: Any, gateway: Any) -> None:
    """All of it, and within 20 ms on an idle machine; a busy one is given the gap between two events."""
    gap_s, count = 0.1, 6

    async def scenario() -> list[float]:
        async with FakeProvider(name="a", default=stream_of(*["x"] * count, gap_s=gap_s)) as a, gateway(a) as gw:
            async with await Wire.open(gw.base_url) as wire:
                wire.send(chat_request("chat", stream=True))
                arrived = []
                for number in range(1, count + 1):
                    while wire.received.count(b'"content":"x"') < number:
                        await wire._change()
                    arrived.append(time.monotonic())
                await wire.reply()
                return arrived

    arrived = run(scenario())

    gaps = [later - earlier for earlier, later in itertools.pairwise(arrived)]
    assert all(gap > gap_s / 2 for gap in gaps)
    assert sum(gaps) < 2 * gap_s * (count - 1)
