import pytest

from pointsman.domain.errors import GatewayError
from pointsman.http1.chunked import MAX_TRAILER_BYTES, ChunkDecoder
from tests.unit.http1.growth import growth


def decode(*pieces: bytes) -> tuple[bytes, bool, bytes]:
    decoder = ChunkDecoder()
    parts = [part for piece in pieces for part in decoder.feed(piece)]
    return b"".join(parts), decoder.is_done, decoder.rest


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (b"0\r\n\r\n", b""),
        (b"00000000\r\n\r\n", b""),
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"0000000a\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"4\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n\r\n"),
        (b"1;name=value\r\na\r\n0\r\n\r\n", b"a"),
        (b'1 ;a="b c";d\r\na\r\n0;last\r\n\r\n', b"a"),
        (b"1\r\na\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", b"a"),
    ],
)
def test_the_parts_of_a_body_are_joined(raw: bytes, body: bytes) -> None:
    assert decode(raw) == (body, True, b"")


@pytest.mark.parametrize("cut", range(1, 34))
def test_a_body_may_be_cut_anywhere(cut: int) -> None:
    raw = b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\na: b\r\n\r\nGET"

    assert decode(raw[:cut], raw[cut:]) == (b"abcde", True, b"GET")


def test_bytes_after_the_body_are_left_for_the_next_message() -> None:
    assert decode(b"1\r\na\r\n0\r\n\r\nGET / ", b"HTTP/1.1") == (b"a", True, b"GET / HTTP/1.1")


@pytest.mark.parametrize(
    "raw", [b"", b"1", b"1\r", b"1\r\n", b"1\r\na", b"1\r\na\r", b"1\r\na\r\n0\r\n", b"0\r\nX: y\r\n"]
)
def test_a_body_without_its_end_is_not_done(raw: bytes) -> None:
    assert decode(raw)[1] is False


def test_data_is_handed_on_before_its_chunk_is_complete() -> None:
    decoder = ChunkDecoder()

    assert decoder.feed(b"5\r\nab") == [b"ab"]


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\n",
        b"x\r\n",
        b"0x1\r\n",
        b"1 \r\n",
        b" 1\r\n",
        b"123456789\r\n",
        b"1;\x00\r\n",
        b"1\r\nab",
        b"1\r\na\n",
        b"1\r\na\rb",
        b"0\r\nno colon\r\n",
        b"0\r\na b: c\r\n",
        b"0\r\n: c\r\n",
        b"0\r\na: \x01\r\n",
        b"1;" + b"x" * 300,
        b"0\r\n" + b"x" * (MAX_TRAILER_BYTES + 2),
    ],
)
def test_anything_but_the_exact_coding_is_refused(raw: bytes) -> None:
    with pytest.raises(GatewayError) as raised:
        decode(raw)

    assert raised.value.status == 400


@pytest.mark.parametrize("line", [b"a: b\r\n", b"a:" + b"b" * 4_000 + b"\r\n"])
def test_trailers_without_end_are_refused(line: bytes) -> None:
    with pytest.raises(GatewayError, match="trailers"):
        decode(b"0\r\n", *[line] * MAX_TRAILER_BYTES)


def test_trailers_up_to_the_limit_are_taken() -> None:
    trailer = b"a:" + b"b" * (MAX_TRAILER_BYTES - 2) + b"\r\n"

    assert decode(b"0\r\n" + trailer + b"\r\n")[1] is True


def test_many_tiny_chunks_in_one_read_cost_their_length_only() -> None:
    assert growth(lambda count: decode(b"1\r\na\r\n" * count), 2_000, 32_000) < 100  # quadratic would be 256


def test_one_chunk_in_many_tiny_reads_costs_its_length_only() -> None:
    def work(count: int) -> None:
        decode(b"%x\r\n" % (16 * count), *[b"a" * 16] * count)

    assert growth(work, 2_000, 32_000) < 100
