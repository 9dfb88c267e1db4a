import asyncio

import pytest

from pointsman.http1.client import WireFailure, WireFault
from pointsman.testing import CloseEarly, Hang, Raw, Status, Truncated
from pointsman.testing.answers import RawThen
from tests.unit.http1.bad_answers import REFUSED
from tests.unit.http1.edge import Run, until
from tests.unit.http1.upstream import (
    CLOSED,
    OK,
    PROTOCOL,
    REQUEST,
    TRUNCATED,
    Heard,
    answer,
    begin,
    chunked,
    sized,
    upstream,
)


def bytewise(raw: bytes) -> tuple[bytes, ...]:
    return tuple(raw[at : at + 1] for at in range(len(raw)))


SOUND: dict[str, tuple[tuple[bytes, ...], RawThen, tuple[int, bytes]]] = {
    "length": ((sized(b"abc"),), "keep", (200, b"abc")),
    "length, byte-wise": (bytewise(sized(b"abc")), "keep", (200, b"abc")),
    "length of zero": ((sized(b""),), "keep", (200, b"")),
    "chunks": ((chunked(b"ab", b"c"),), "keep", (200, b"abc")),
    "chunks, byte-wise": (bytewise(chunked(b"ab", b"c")), "keep", (200, b"abc")),
    "chunks with trailers": ((chunked(b"ab", trailers=b"x: y\r\n"),), "keep", (200, b"ab")),
    "no body": ((b"HTTP/1.1 204 No Content\r\n\r\n",), "keep", (204, b"")),
    "close is the end": ((OK + b"\r\nabc",), "close", (200, b"abc")),
    "close is the end, byte-wise": (bytewise(OK + b"\r\nabc"), "close", (200, b"abc")),
    "HTTP/1.0": ((b"HTTP/1.0 200 OK\r\n\r\nabc",), "close", (200, b"abc")),
    "HTTP/1.0 with length": ((b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na",), "close", (200, b"a")),
    "unknown status": ((sized(b"", status=b"HTTP/1.1 529 Busy\r\n"),), "keep", (529, b"")),
    "no phrase": ((sized(b"", status=b"HTTP/1.1 200\r\n"),), "keep", (200, b"")),
    "one interim": ((b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + sized(b"a"),), "keep", (200, b"a")),
    "continue": ((b"HTTP/1.1 100 Continue\r\n\r\n", sized(b"a")), "keep", (200, b"a")),
    "interim, byte-wise": (bytewise(b"HTTP/1.1 100 Continue\r\n\r\n" + sized(b"a")), "keep", (200, b"a")),
    "sixteen interims": ((b"HTTP/1.1 102 Wait\r\n\r\n" * 16 + sized(b"a"),), "keep", (200, b"a")),
    "interims in sixteen writes": ((*[b"HTTP/1.1 102 Wait\r\n\r\n"] * 16, sized(b"a")), "keep", (200, b"a")),
}


@pytest.mark.parametrize(("pieces", "then", "said"), SOUND.values(), ids=SOUND)
def test_a_sound_answer_is_heard_to_its_end(
    run: Run, pieces: tuple[bytes, ...], then: RawThen, said: tuple[int, bytes]
) -> None:
    heard = run(answer(*pieces, then=then))

    assert (heard.said, heard.end) == (said, "end")


@pytest.mark.case("T13", "T15")
@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_an_answer_that_is_no_proper_HTTP_is_refused(run: Run, raw: bytes) -> None:  # noqa: N802
    heard = run(answer(raw, then="stall"))

    assert heard.end == PROTOCOL


@pytest.mark.case("T13")
@pytest.mark.parametrize("raw", [raw for raw in REFUSED.values() if len(raw) < 200])
def test_a_refusal_does_not_depend_on_where_the_bytes_are_cut(run: Run, raw: bytes) -> None:
    heard = run(answer(*bytewise(raw), then="stall"))

    assert heard.end == PROTOCOL


@pytest.mark.parametrize("trailer", [b"x: a\r\n" * 500, b"x" * 4_000], ids=["many", "one"])
def test_trailers_without_end_are_bounded(run: Run, trailer: bytes) -> None:
    begun = OK + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"

    heard = run(answer(begun, *[trailer] * 500, then="stall"))

    assert (heard.body, heard.end) == (b"a", PROTOCOL)


@pytest.mark.case("T15")
def test_interim_answers_without_end_are_bounded(run: Run) -> None:
    heard = run(answer(*[b"HTTP/1.1 103 Early\r\nx: y\r\n\r\n"] * 1_000, then="stall"))

    assert (heard.head, heard.end) == (None, PROTOCOL)


def test_a_refused_answer_is_no_use_to_the_pool(run: Run) -> None:
    async def scenario() -> int:
        async with upstream() as up:
            up.provider.script(Raw((REFUSED["two lengths"],), then="keep"))
            await up.exchange()
            await up.exchange()
            return up.provider.connections_accepted

    assert run(scenario()) == 2


CUT: dict[str, tuple[bytes, ...]] = {
    "within the status line": (b"HTTP/1.1 20",),
    "within the head": (OK + b"x: y\r\n",),
    "after the head": (OK + b"content-length: 5\r\n\r\n",),
    "within the length": (OK + b"content-length: 5\r\n\r\nab",),
    "within a chunk": (OK + b"transfer-encoding: chunked\r\n\r\n5\r\nab",),
    "between chunks": (OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n",),
    "before the last line": (OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n",),
    "after an interim": (b"HTTP/1.1 100 Continue\r\n\r\n",),
}


@pytest.mark.parametrize("then", ["close", "reset"])
@pytest.mark.parametrize("pieces", CUT.values(), ids=CUT)
def test_an_answer_that_breaks_off_is_truncated(run: Run, pieces: tuple[bytes, ...], then: RawThen) -> None:
    async def scenario() -> Heard:
        async with upstream() as up:
            up.provider.script(Raw((*pieces, b""), then=then))
            return await up.exchange()

    heard = run(scenario())

    assert heard.end in ((TRUNCATED,) if then == "close" else (TRUNCATED, CLOSED))  # RST may overtake the bytes


def test_a_reset_is_not_the_end_of_an_answer_that_the_close_ends(run: Run) -> None:
    async def scenario() -> Heard:
        async with upstream() as up:
            up.provider.script(Raw((OK + b"\r\nabc",), then="stall"))
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await until(lambda: bool(heard.pieces))
            up.provider.script()
            connection.connection_lost(ConnectionResetError())
            connection.abort()
            return heard

    assert run(scenario()).end == TRUNCATED


@pytest.mark.parametrize("answer_", [Truncated("hello"), Truncated("hello", then="reset")])
def test_a_short_answer_is_never_a_whole_one(run: Run, answer_: Truncated) -> None:
    async def scenario() -> Heard:
        async with upstream() as up:
            up.provider.script(answer_)
            return await up.exchange()

    assert run(scenario()).end in (TRUNCATED, CLOSED)


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
def test_a_close_before_the_first_byte_is_told_from_a_truncation(run: Run, reset: bool) -> None:
    async def scenario() -> Heard:
        async with upstream() as up:
            up.provider.script(CloseEarly(reset=reset))
            return await up.exchange()

    assert run(scenario()).end == CLOSED


def test_a_request_on_a_connection_that_is_lost_fails_as_closed_at_once(run: Run) -> None:
    async def scenario() -> object:
        async with upstream() as up:
            connection, heard = await up.connection(), Heard()
            await up.provider.stop()
            await until(lambda: not connection.is_reusable)
            begin(connection, heard)
            return heard.end

    assert run(scenario()) == CLOSED


def test_an_error_status_is_an_answer_like_any_other(run: Run) -> None:
    async def scenario() -> Heard:
        async with upstream() as up:
            up.provider.script(Status(503, "busy"))
            return await up.exchange()

    heard = run(scenario())

    assert heard.end == "end"
    assert heard.head is not None
    assert heard.head.status == 503


def test_the_request_arrives_as_it_was_given(run: Run) -> None:
    async def scenario() -> bytes:
        async with upstream() as up:
            await up.exchange(REQUEST)
            return up.provider.log[0].body

    assert REQUEST.endswith(run(scenario()))


def test_the_time_of_the_last_bytes_is_known(run: Run) -> None:
    async def scenario() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        async with upstream() as up:
            connection, heard = await up.connection(), Heard()
            before = loop.time()
            begin(connection, heard)
            await heard.over()
            connection.abort()
            return connection.last_read_at - before, loop.time() - connection.last_read_at

    assert all(0 <= passed < 2 for passed in run(scenario()))


# --- ends that we make


def test_an_abort_closes_at_once_and_the_receiver_hears_nothing(run: Run) -> None:
    async def scenario() -> tuple[float, Heard]:
        async with upstream() as up:
            up.provider.script(Hang())
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await up.provider.until(lambda: bool(up.provider.log))
            began = asyncio.get_running_loop().time()
            connection.abort()
            await up.provider.until(up.provider.log[0].closed.is_set)
            return asyncio.get_running_loop().time() - began, heard

    took_s, heard = run(scenario())

    assert took_s < 0.1
    assert heard.end is None


@pytest.mark.parametrize("got_bytes", [False, True])
def test_a_fault_that_we_find_ends_the_answer(run: Run, got_bytes: bool) -> None:
    async def scenario() -> tuple[Heard, bool]:
        async with upstream() as up:
            up.provider.script(Raw((OK,), then="stall") if got_bytes else Hang())
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await until(lambda: connection.got_bytes is got_bytes)
            connection.fail(WireFault.TIMEOUT_IDLE)
            connection.fail(WireFault.TIMEOUT_TOTAL)
            return heard, connection.is_reusable

    heard, is_reusable = run(scenario())

    assert heard.end == WireFailure(WireFault.TIMEOUT_IDLE, got_bytes)
    assert heard.calls_after_end == 0
    assert not is_reusable


# --- back-pressure


def test_a_paused_answer_comes_no_further_until_it_is_resumed(run: Run) -> None:
    async def scenario() -> tuple[int, int]:
        size = 4 * 1024 * 1024
        async with upstream() as up:
            up.provider.script(Raw((sized(b"x" * size),), then="keep"))
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await until(lambda: bool(heard.pieces))
            connection.pause_reading()
            held = len(heard.body)
            await asyncio.sleep(0.02)
            assert connection.is_reading_paused
            assert len(heard.body) == held
            connection.resume_reading()
            await heard.over()
            connection.abort()
            return held, len(heard.body)

    held, got = run(scenario())

    assert held < got == 4 * 1024 * 1024


def test_reading_paused_by_the_last_bytes_of_an_answer_does_not_hold_the_next_one(run: Run) -> None:
    class Pausing(Heard):
        def on_data(self, data: bytes) -> None:
            super().on_data(data)
            connection.pause_reading()

    async def scenario() -> tuple[bytes, bytes, int]:
        nonlocal connection
        async with upstream() as up:
            up.provider.script(Raw((sized(b"first"),), then="keep"), Raw((sized(b"second"),), then="keep"))
            connection, first = await up.connection(), Pausing()
            begin(connection, first)
            await first.over()
            assert not connection.is_reading_paused
            up.pool.release("tenant", connection, 60.0)
            second = await up.exchange()
            return first.body, second.body, up.provider.connections_accepted

    connection = None  # type: ignore[assignment]

    assert run(scenario()) == (b"first", b"second", 1)


def test_pausing_after_the_end_of_an_answer_does_nothing(run: Run) -> None:
    async def scenario() -> bool:
        async with upstream() as up:
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await heard.over()
            connection.pause_reading()
            is_paused = connection.is_reading_paused
            connection.abort()
            return is_paused

    assert run(scenario()) is False
