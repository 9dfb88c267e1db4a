import pytest

from pointsman.domain.errors import GatewayError
from pointsman.http1.head import MAX_HEAD_BYTES
from pointsman.http1.request_reader import ReadPhase, RequestReader
from tests.unit.http1.growth import growth
from tests.unit.http1.heads import BODY_LIMIT, bytewise, chunked, get, post, verdict


def bodies(*pieces: bytes) -> list[bytes]:
    return [body for _, body in verdict(pieces).requests]


def test_a_whole_request_in_one_read_is_complete() -> None:
    read = verdict([post(b"Content-Length: 3", body=b"abc")])

    assert [(head.method, body) for head, body in read.requests] == [("POST", b"abc")]
    assert (read.phase, read.held_bytes) == (ReadPhase.IDLE, 0)


def test_a_request_without_a_body_is_complete_with_its_head() -> None:
    assert bodies(get()) == [b""]


@pytest.mark.parametrize(
    "raw",
    [
        get(),
        post(b"Content-Length: 3", body=b"abc"),
        chunked(b"3\r\nabc\r\n0\r\n\r\n"),
        chunked(b"1;x\r\na\r\n2\r\nbc\r\n0\r\nX: y\r\n\r\n"),
        get() + post(b"Content-Length: 3", body=b"abc") + chunked(b"1\r\na\r\n0\r\n\r\n") + get(),
        b"\r\n\r\n" + get() + b"\r\n" + get(),
    ],
    ids=["no body", "length", "chunks", "extensions and trailers", "pipelined", "empty lines between"],
)
def test_every_cut_gives_the_same_requests(raw: bytes) -> None:
    whole = verdict([raw])

    assert whole.requests
    assert all(verdict([raw[:at], raw[at:]]) == whole for at in range(len(raw)))
    assert verdict(bytewise(raw)) == whole


def test_pipelined_requests_come_one_by_one_in_order() -> None:
    reader = RequestReader(BODY_LIMIT)
    first = reader.feed(post(b"Content-Length: 1", body=b"1") + post(b"Content-Length: 1", body=b"2") + b"GET ")

    second = reader.feed(b"")

    assert first is not None
    assert second is not None
    assert (first[1], second[1]) == (b"1", b"2")
    assert reader.held_bytes == 4


def test_bytes_held_while_a_request_is_handled_belong_to_the_next_one() -> None:
    reader = RequestReader(BODY_LIMIT)
    reader.feed(get())
    reader.hold(post(b"Content-Length: 2", body=b"a"))
    reader.hold(b"b")

    request = reader.feed(b"")

    assert request is not None
    assert request[1] == b"ab"


def test_empty_lines_before_a_request_are_skipped() -> None:
    reader = RequestReader(BODY_LIMIT)

    assert reader.feed(b"\r\n\r\n") is None
    assert reader.phase is ReadPhase.IDLE
    assert reader.held_bytes == 0


def test_the_phase_says_what_the_next_bytes_belong_to() -> None:
    reader = RequestReader(BODY_LIMIT)
    raw = post(b"Content-Length: 2", body=b"ab")
    phases = []

    for piece in (raw[:5], raw[5:-2], raw[-2:-1], raw[-1:]):
        reader.feed(piece)
        phases.append(reader.phase)

    assert phases == [ReadPhase.HEAD, ReadPhase.BODY, ReadPhase.BODY, ReadPhase.IDLE]


def test_the_head_is_known_while_its_body_is_read_only() -> None:
    reader = RequestReader(BODY_LIMIT)
    raw = post(b"Content-Length: 2", body=b"ab")

    reader.feed(raw[:-1])
    during = reader.head
    reader.feed(raw[-1:])

    assert during is not None
    assert (during.content_length, reader.head) == (2, None)


@pytest.mark.bug("I-07")
@pytest.mark.parametrize(("over", "status"), [(-1, None), (0, None), (1, 413)])
def test_an_announced_body_is_taken_up_to_the_limit_exactly(over: int, status: int | None) -> None:
    size = BODY_LIMIT + over

    assert verdict([post(b"Content-Length: %d" % size, body=b"a" * size)]).status == status


def test_a_body_over_the_limit_is_refused_before_a_byte_of_it_arrives() -> None:
    refused = verdict([post(b"Content-Length: %d" % (BODY_LIMIT + 1))])

    assert refused.status == 413


@pytest.mark.bug("I-07")
@pytest.mark.parametrize(("over", "status"), [(-1, None), (0, None), (1, 413)])
def test_a_chunked_body_is_counted_too(over: int, status: int | None) -> None:
    size = BODY_LIMIT + over
    raw = chunked(b"1\r\na\r\n" * size + b"0\r\n\r\n")

    assert verdict([raw]).status == status


@pytest.mark.bug("I-07")
def test_the_refusal_names_the_limit() -> None:
    with pytest.raises(GatewayError, match="limit of 10 bytes"):
        RequestReader(10).feed(post(b"Content-Length: 11"))


@pytest.mark.parametrize(("size", "status"), [(MAX_HEAD_BYTES, None), (MAX_HEAD_BYTES + 1, 431)])
def test_a_head_is_taken_up_to_the_limit_exactly(size: int, status: int | None) -> None:
    raw = get(b"X: " + b"a" * (size - len(get(b"X: "))))

    assert len(raw) == size
    assert verdict([raw]).status == status
    assert verdict([raw[at : at + 100] for at in range(0, size, 100)]).status == status


@pytest.mark.bug("I-08")
@pytest.mark.parametrize(
    "raw", [post(b"Content-Length: 1000", body=b"a" * 500), chunked(b"1f4\r\n" + b"a" * 500 + b"\r\n")]
)
def test_a_body_that_never_ends_never_becomes_a_request(raw: bytes) -> None:
    waiting = verdict([raw])

    assert (waiting.requests, waiting.status, waiting.phase) == ((), None, ReadPhase.BODY)


def test_a_megabyte_in_tiny_reads_costs_its_length_only() -> None:
    def work(size: int) -> None:
        verdict([post(b"Content-Length: %d" % size), *[b"a" * 32] * (size // 32)], size)

    assert growth(work, 64 * 1_024, 1_024 * 1_024) < 100  # 16 times the bytes; quadratic would be 256


def test_a_megabyte_of_one_byte_chunks_keeps_one_part_per_read() -> None:
    reader = RequestReader(1_024 * 1_024)
    reader.feed(chunked(b""))

    for _ in range(64):
        reader.feed(b"1\r\na\r\n" * 1_024)

    assert len(reader._parts) <= 65
