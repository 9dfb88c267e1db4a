import pytest

from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.response_head import ResponseHead, read_response_head
from tests.unit.http1.growth import growth

LIMITS = UpstreamLimits()


def read(*lines: bytes, status: int = 200) -> ResponseHead | None:
    return read_response_head(status, b"".join(line + b"\r\n" for line in (b"HTTP/1.1 200 OK", *lines)), LIMITS)


def sound(*lines: bytes) -> ResponseHead:
    head = read(*lines)
    assert head is not None
    return head


def test_headers_are_found_by_their_name_in_lower_case() -> None:
    head = sound(b"a: 1", b"X: A", b"b: 2")

    assert (head.get(b"x"), head.get(b"y")) == (b"A", None)


def test_the_status_line_is_no_header() -> None:
    head = read_response_head(200, b"HTTP/1.1 200 x: 1\r\n", LIMITS)

    assert head is not None
    assert head.get(b"x") is None


@pytest.mark.parametrize(
    ("lines", "has_length"),
    [
        ((), False),
        ((b"content-length: 5",), True),
        ((b"Transfer-Encoding: Chunked",), True),
        ((b"transfer-encoding:\tchunked ",), True),
        ((b"x-content-length: 5",), False),
    ],
)
def test_a_head_says_whether_the_body_has_an_end(lines: tuple[bytes, ...], has_length: bool) -> None:
    assert sound(*lines).has_length is has_length


@pytest.mark.case("T13")
@pytest.mark.parametrize(
    "lines",
    [
        (b"transfer-encoding: chunked", b"transfer-encoding: chunked"),
        (b"transfer-encoding: gzip, chunked",),
        (b"transfer-encoding: chunked, chunked",),
        (b"transfer-encoding: chunked, identity",),
        (b"transfer-encoding: identity",),
        (b"transfer-encoding: xchunked",),
        (b"transfer-encoding:",),
        (b'transfer-encoding: "chunked"',),
    ],
)
def test_what_two_readers_could_read_differently_is_refused(lines: tuple[bytes, ...]) -> None:
    assert read(*lines) is None


@pytest.mark.parametrize("status", [0, 99, 600, 999])
def test_a_status_that_is_none_is_refused(status: int) -> None:
    assert read(status=status) is None


@pytest.mark.parametrize("status", [100, 200, 204, 429, 529, 599])
def test_any_other_status_is_taken(status: int) -> None:
    head = read(status=status)

    assert head is not None
    assert head.status == status


@pytest.mark.parametrize("line", [b"HTTP/1.1 200", b"HTTP/1.0 200 ", b"HTTP/1.1 200 Sehr gut \xe4"])
def test_the_phrase_of_a_status_is_free(line: bytes) -> None:
    assert read_response_head(200, line + b"\r\n", LIMITS) is not None


@pytest.mark.parametrize(("count", "is_taken"), [(128, True), (129, False)])
def test_headers_are_counted(count: int, is_taken: bool) -> None:
    assert (read(*[b"x: a"] * count) is not None) is is_taken


@pytest.mark.parametrize(("over", "is_taken"), [(0, True), (1, False)])
def test_a_head_is_taken_up_to_the_limit_exactly(over: int, is_taken: bool) -> None:
    line = b"HTTP/1.1 200 OK\r\nx: "
    raw = line + b"a" * (LIMITS.head_bytes - len(line) - 2 + over) + b"\r\n"

    assert (read_response_head(200, raw, LIMITS) is not None) is is_taken


def test_a_head_full_of_white_space_is_read_in_linear_time() -> None:
    limits = UpstreamLimits(head_bytes=1 << 20)

    def work(size: int) -> None:
        for value in (b" " * size + b"\x00", b"a" * size + b"\x00", b" " * size):
            read_response_head(200, b"HTTP/1.1 200 OK\r\nx:" + value + b"\r\n", limits)

    assert growth(work, 2_000, 32_000) < 100  # quadratic would be 256
