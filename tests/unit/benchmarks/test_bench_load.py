"""The load clients trust nothing: whatever is not the whole, proper answer ends the run."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import payloads
from benchmarks.load import ClosedLoop, Load, LoadError, answer_end
from benchmarks.load_streams import OpenStreams, sent_times
from benchmarks.upstream import MockProvider
from pointsman.testing import Answer, Chat, CloseEarly, Events, FakeProvider, Raw, Status, Truncated, stream_of

LoadOf = Callable[[int], Load]

UNARY = payloads.http_request(payloads.chat_body(1024))
STREAM = payloads.http_request(payloads.chat_body(1024, stream_events=3))
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
ANSWER = HEAD + b"{}"


def closed_loop(port: int) -> Load:
    return ClosedLoop(port, UNARY, connections=2)


def open_streams(port: int) -> Load:
    return OpenStreams(port, STREAM, 3, spread_s=0.03)


def load_on(provider: FakeProvider, load_of: LoadOf, seconds: float = 0.1) -> tuple[int, FakeProvider]:
    """How many samples the load took from this provider."""

    async def scenario() -> int:
        async with provider:
            load = load_of(urlsplit(provider.base_url).port or 0)
            await load.start()
            await load.run(seconds)
            await load.finish()
            return len(load.samples_ns)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(scenario()), provider


# --- the closed loop


def test_closed_loop_takes_a_sample_per_answer_and_ends_its_connections() -> None:
    samples, provider = load_on(FakeProvider(), closed_loop)

    assert samples == len(provider.log) > 2
    assert provider.connections_accepted == 2
    assert all(received.answered for received in provider.log)


def test_closed_loop_takes_chunked_answers_too() -> None:
    samples, _ = load_on(FakeProvider(default=stream_of("a", split=5)), closed_loop)

    assert samples > 2


def test_connection_that_the_server_asks_to_close_is_replaced() -> None:
    closing = FakeProvider(default=Chat(headers=(("connection", "close"),)))

    samples, provider = load_on(closing, closed_loop)

    assert samples > 2
    assert provider.connections_accepted > 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Status(500), "not a 200: HTTP/1.1 500"),
        (Status(429), "not a 200: HTTP/1.1 429"),
        (Raw((b"junk\r\n\r\n",)), "not a 200: junk"),
        (Raw((b"HTTP/1.1 200 OK\r\n\r\n",), then="stall"), "neither a length nor chunks"),
        (Raw((ANSWER + b"more",), then="stall"), "more bytes than the answer announced"),
        (Truncated(then="cut"), "closed before its answer was complete"),
        (Truncated(then="reset"), "closed before its answer was complete"),
        (stream_of("a", then="cut"), "closed before its answer was complete"),
        (CloseEarly(), "closed before its answer was complete"),
    ],
)
def test_closed_loop_fails_on_anything_but_whole_answers(answer: Answer, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load_on(FakeProvider(default=answer), closed_loop)


# --- streams


def test_streams_take_a_sample_per_event() -> None:
    samples, provider = load_on(FakeProvider(default=timed_stream(4)), open_streams)

    assert samples == 3 * 4
    assert provider.connections_accepted == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Status(503), "not a 200: HTTP/1.1 503"),
        (stream_of("a", then="cut"), "a stream ended without"),
        (stream_of("a", then="reset"), "a stream ended without"),
        (stream_of("a", then="end"), "a stream ended without"),
        (Events((payloads.DONE,), then="cut"), "a stream ended without"),
        (CloseEarly(), "a stream ended without"),
    ],
)
def test_streams_fail_unless_all_end_with_done(answer: Answer, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load_on(FakeProvider(default=answer), open_streams)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_end_of_a_stream_is_seen_at_any_cut(size: int) -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    body = payloads.event_chunk(10**18) + payloads.STREAM_END
    pieces = (head, *(body[at : at + size] for at in range(0, len(body), size)))

    samples, _ = load_on(FakeProvider(default=Raw(pieces, then="stall", gap_s=0.00001)), open_streams)

    assert samples == 3


@pytest.mark.parametrize("load_of", [closed_loop, open_streams])
def test_port_where_nobody_listens_fails_the_run(load_of: LoadOf) -> None:
    async def scenario() -> None:
        async with FakeProvider() as provider:
            port = urlsplit(provider.base_url).port or 0
        load = load_of(port)
        await load.start()
        await load.run(1.0)

    with pytest.raises(LoadError, match="cannot connect"):
        asyncio.run(scenario())


# --- the end of an answer


@given(cut=st.integers(0, len(ANSWER)))
def test_answer_is_complete_exactly_with_its_last_byte(cut: int) -> None:
    assert answer_end(ANSWER[:cut]) == ((len(ANSWER), True) if cut == len(ANSWER) else None)


@given(cut=st.integers(0, 200))
def test_chunked_answer_is_complete_exactly_with_its_last_chunk(cut: int) -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + payloads.chunk(b"abc") * 3 + payloads.CHUNKED_END
    )

    assert answer_end(answer[:cut]) == ((len(answer), True) if cut >= len(answer) else None)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (HEAD + b"{}extra", (len(ANSWER), True)),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", (57, False)),
        (b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 1\r\n\r\n", None),
        (b"HTTP/1.1 500 whatever", None),
    ],
)
def test_head_decides_where_the_answer_ends(data: bytes, expected: tuple[int, bool] | None) -> None:
    assert answer_end(data) == expected


# --- send times


def timed_stream(count: int, *, then: str = "done") -> Events:
    chunks = (payloads.event_chunk(10**18 + number) for number in range(count))
    return Events(tuple(chunk.split(b"\r\n")[1] for chunk in chunks), then=then)


@given(count=st.integers(0, 5), cuts=st.lists(st.integers(0, 1_500), max_size=10))
def test_send_times_are_all_found_at_any_cut(count: int, cuts: list[int]) -> None:
    sent_ns = [10**18 + number for number in range(count)]
    data = b"".join(map(payloads.event_chunk, sent_ns)) + payloads.STREAM_END
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    found_ns, rest = [], b""
    for begin, end in pairwise(edges):
        times_ns, rest = sent_times(rest + data[begin:end])
        found_ns += times_ns

    assert found_ns == sent_ns


@given(data=st.binary(max_size=300))
def test_rest_is_shorter_than_a_mark(data: bytes) -> None:
    data = data.replace(payloads.TIME_MARK, b"")

    _, rest = sent_times(data)

    assert len(rest) < len(payloads.TIME_MARK) + payloads.TIME_DIGITS
    assert data.endswith(rest)


# --- the mock provider answers what the loads expect


@pytest.mark.parametrize(("load_of", "samples"), [(closed_loop, None), (open_streams, 9)])
def test_mock_provider_satisfies_the_loads(load_of: LoadOf, samples: int | None) -> None:
    async def scenario() -> int:
        server = await asyncio.get_running_loop().create_server(MockProvider, "127.0.0.1", 0)
        async with server:
            load = load_of(server.sockets[0].getsockname()[1])
            await load.start()
            await load.run(0.1)
            await load.finish()
            return len(load.samples_ns)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(scenario())

    assert found == samples if samples is not None else found > 2
