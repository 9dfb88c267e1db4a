import tracemalloc

import pytest

from pointsman.dialects.sse import EventTooLargeError, SseDecoder, SseEvent, data_of
from tests.unit.http1.growth import growth

TEXT = '{"delta":"北京 👩\u200d🚀 café"}'.encode()
CANON = [b'{"a":1}', TEXT, b"x", b"[DONE]"]


def decode(*pieces: bytes, limit: int = 1_024 * 1_024) -> list[SseEvent]:
    decoder = SseDecoder(limit)
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def framed(data: list[bytes], end: bytes = b"\n", field: bytes = b"data: ") -> bytes:
    return b"".join(field + value + end + end for value in data)


def said(*pieces: bytes) -> list[bytes]:
    return [event.data for event in decode(*pieces) if event.data is not None]


def bytewise(raw: bytes) -> list[bytes]:
    return [raw[at : at + 1] for at in range(len(raw))]


PLAIN = framed(CANON)
FRAMINGS: dict[str, list[bytes]] = {
    "LF": [PLAIN],
    "CRLF": [framed(CANON, b"\r\n")],
    "CR": [framed(CANON, b"\r")],
    "byte-wise": bytewise(PLAIN),
    "one event per write": [framed([value]) for value in CANON],
    "no space after the colon": [framed(CANON, field=b"data:")],
    "ids and retries": [framed(CANON, field=b"id: 1\nretry: 10\nevent: x\ndata: ")],
    "comments between": [framed(CANON, field=b": ping\n\n:\ndata: ")],
    "last event without its empty line": [PLAIN.removesuffix(b"\n")],
    "last event without any line end": [PLAIN.removesuffix(b"\n\n")],
    "byte order mark": [b"\xef\xbb\xbf" + PLAIN],
    "surplus empty lines": [b"\n\n" + PLAIN.replace(b"\n\n", b"\n\n\n\n")],
    "CRLF, byte-wise": bytewise(framed(CANON, b"\r\n")),
    "CR, byte-wise": bytewise(framed(CANON, b"\r")),
    "mixed line ends": [b"data: " + b"\r\r\ndata: ".join(CANON) + b"\n\r"],
}


@pytest.mark.bug("E-02")
@pytest.mark.parametrize("pieces", FRAMINGS.values(), ids=FRAMINGS)
def test_every_framing_says_the_same(pieces: list[bytes]) -> None:
    assert said(*pieces) == CANON


@pytest.mark.bug("E-02")
def test_data_lines_of_one_event_are_joined() -> None:
    assert said(b'data: {"a":\ndata: 1}\n\ndata:\ndata: x\n\n') == [b'{"a":\n1}', b"\nx"]


@pytest.mark.bug("E-02")
def test_an_event_just_below_the_limit_is_whole() -> None:
    big = b"x" * (1_024 * 1_024 - 20)

    assert said(*[(b"data: " + big + b"\n\n")[at : at + 65_536] for at in range(0, len(big) + 8, 65_536)]) == [big]


@pytest.mark.case("T21")
@pytest.mark.bug("E-01")
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_every_cut_of_a_transcript_gives_the_same_events(end: bytes) -> None:
    lines = [b": ping", b"event: x", b"id: 7"]
    values = [TEXT, b'{"n":"%b"}' % (b"x" * 90), b"line one" + end + b"data: line two", b"[DONE]"] * 16
    raw = end.join(lines) + end + end + framed(values, end)
    whole = decode(raw)

    assert len(raw) > 3_000
    assert len(whole) == 65
    assert all(decode(raw[:at], raw[at:]) == whole for at in range(len(raw)))


@pytest.mark.case("T21")
@pytest.mark.bug("E-01")
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_a_transcript_byte_by_byte_gives_the_same_events(end: bytes) -> None:
    raw = framed(CANON * 5, end)

    assert decode(*bytewise(raw)) == decode(raw)


@pytest.mark.case("T21")
def test_a_CR_in_a_value_ends_its_line() -> None:  # noqa: N802  # as the standard calls it
    assert said(b"data: a\rdata: b\n\n") == [b"a\nb"]


@pytest.mark.bug("D-06")
@pytest.mark.parametrize("pieces", [FRAMINGS[name] for name in ("LF", "CRLF", "comments between", "byte-wise")])
def test_the_raw_bytes_of_all_events_are_the_stream(pieces: list[bytes]) -> None:
    assert b"".join(event.raw for event in decode(*pieces)) == b"".join(pieces)


def test_a_byte_order_mark_is_the_only_byte_left_out() -> None:
    assert b"".join(event.raw for event in decode(b"\xef", b"\xbb", b"\xbf", PLAIN)) == PLAIN


def test_a_byte_order_mark_later_on_is_text() -> None:
    assert said(b"data: \xef\xbb\xbf\n\n") == [b"\xef\xbb\xbf"]


@pytest.mark.bug("E-03")
@pytest.mark.parametrize("comment", [b": OPENROUTER PROCESSING\n\n", b": ping - 2\n\n", b":\n\n", b": data: x\n\n"])
def test_a_comment_is_an_event_without_data(comment: bytes) -> None:
    assert decode(comment * 5 + b"data: x\n\n") == [SseEvent(comment, None)] * 5 + [SseEvent(b"data: x\n\n", b"x")]


@pytest.mark.parametrize("stream", [b"", b"\n", b"\n\n", b"\r\n\r\n", b"\r", b"\n\r\n\n"])
def test_empty_lines_alone_are_no_event(stream: bytes) -> None:
    assert decode(stream) == []


@pytest.mark.bug("E-02")
@pytest.mark.parametrize("tail", [b"", b"\n", b"\r\n", b"\r"])
def test_the_last_event_is_completed(tail: bytes) -> None:
    assert decode(b"data: a\n\ndata: b" + tail)[-1] == SseEvent(b"data: b\n\n", b"b")


def test_the_last_event_is_given_once() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: a")
    decoder.close()

    assert decoder.close() == []


def test_an_event_is_given_as_soon_as_its_empty_line_is_there() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == [SseEvent(b"data: a\n\n", b"a")]


def test_empty_reads_change_nothing() -> None:
    decoder = SseDecoder()

    assert [decoder.feed(piece) for piece in (b"", b"data: a\n", b"", b"\n")] == [
        [],
        [],
        [],
        [SseEvent(b"data: a\n\n", b"a")],
    ]


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b"data: a\n\n", b"a"),
        (b"data:a\n\n", b"a"),
        (b"data:  a\n\n", b" a"),
        (b"data\n\n", b""),
        (b"data:\n\n", b""),
        (b"data: a: b\n\n", b"a: b"),
        (b"Data: a\n\n", None),
        (b" data: a\n\n", None),
        (b"database: a\n\n", None),
        (b"event: a\n\n", None),
        (b"id: 1\ndata: a\nretry: 2\n\n", b"a"),
    ],
)
def test_the_data_of_an_event(raw: bytes, data: bytes | None) -> None:
    assert data_of(raw) == data
    assert decode(raw) == [SseEvent(raw, data)]


@pytest.mark.case("T21")
@pytest.mark.parametrize("piece", [b"x", b"x" * 1_000, b"x\n", b"\n", b"data: x\r\n", b": \n"])
def test_an_event_without_end_is_refused_at_the_limit(piece: bytes) -> None:
    decoder = SseDecoder(10_000)
    fed = 0

    with pytest.raises(EventTooLargeError):  # noqa: PT012  # the byte count is the point
        while fed < 20_000:
            decoder.feed(piece)
            fed += len(piece)

    assert fed <= 10_000 + len(piece)


def test_the_limit_counts_one_event_only() -> None:
    assert len(decode(*[b"data: " + b"x" * 60, b"\n\n"] * 1_000, limit=100)) == 1_000


@pytest.mark.parametrize("piece", [b"x" * 16, b"data: xxxxxxxxx\n", b"data: xxxxxxxx\r\n"], ids=["text", "LF", "CRLF"])
def test_an_event_in_tiny_pieces_costs_its_length_only(piece: bytes) -> None:
    def work(count: int) -> None:
        decode(*[piece] * count, limit=1 << 30)

    assert growth(work, 1_000, 16_000) < 100  # 16 times the bytes; quadratic would be 256


@pytest.mark.bug("L-06")
@pytest.mark.parametrize("piece_bytes", [1_000, 100_000, 2_000_000], ids=["tiny pieces", "pieces", "at once"])
def test_one_big_event_leaves_no_big_buffer_behind(piece_bytes: int) -> None:
    big = framed([b"x" * 900_000])
    pieces = [big[at : at + piece_bytes] for at in range(0, len(big), piece_bytes)]
    decoders = [SseDecoder() for _ in range(20)]
    for decoder in decoders:
        decoder.feed(framed([b"first"]))
    tracemalloc.start()

    for decoder in decoders:
        events = [event for piece in pieces for event in decoder.feed(piece)]
        assert len(events) == 1
        del events
    held_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak_bytes > 900_000
    assert held_bytes < 20 * 4_096
