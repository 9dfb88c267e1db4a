import pytest

from pointsman.domain.errors import GatewayError
from pointsman.http1.head import RequestHead, parse_request_head
from tests.unit.http1.growth import growth
from tests.unit.http1.heads import (
    FRAMING,
    HEADERS,
    MUST_REFUSE,
    REQUEST_LINES,
    bytewise,
    get,
    head,
    line,
    post,
    verdict,
)

LONG = 2_000  # above it a corpus entry is cut around its ends only


def refusal(raw: bytes) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        parse_request_head(raw)
    return raised.value


def cuts(raw: bytes) -> list[int]:
    every = range(1, len(raw))
    return list(every) if len(raw) <= LONG else [*every[:64], *every[64:-64:509], *every[-64:]]


# --- what must be refused


@pytest.mark.case("T52")
@pytest.mark.parametrize(("raw", "status"), MUST_REFUSE.values(), ids=MUST_REFUSE)
def test_what_two_parsers_could_read_differently_is_refused_with_its_status(raw: bytes, status: int) -> None:
    refused = verdict([raw])

    assert (refused.requests, refused.status) == ((), status)


@pytest.mark.case("T52")
@pytest.mark.parametrize(("raw", "status"), MUST_REFUSE.values(), ids=MUST_REFUSE)
def test_a_refusal_does_not_depend_on_where_the_bytes_are_cut(raw: bytes, status: int) -> None:
    whole = verdict([raw])

    assert all(verdict([raw[:at], raw[at:]]) == whole for at in cuts(raw))


@pytest.mark.case("T52")
@pytest.mark.parametrize(("raw", "status"), MUST_REFUSE.values(), ids=MUST_REFUSE)
def test_a_refusal_is_the_same_byte_by_byte(raw: bytes, status: int) -> None:
    pieces = bytewise(raw) if len(raw) <= LONG else [raw[at : at + 61] for at in range(0, len(raw), 61)]

    assert verdict(pieces) == verdict([raw])


@pytest.mark.parametrize("raw", [b"GET / HTTP/1.1\nHost: a\n\n", b"GET / HTTP/1.1\rHost: a\r\r", b"\x00" * 100])
def test_bytes_that_never_end_a_head_never_become_a_request(raw: bytes) -> None:
    waiting = verdict([raw])

    assert (waiting.requests, waiting.status) == ((), None)


@pytest.mark.parametrize("table", [REQUEST_LINES, FRAMING, HEADERS], ids=["request lines", "framing", "headers"])
def test_a_refusal_names_no_byte_that_the_caller_sent(table: dict[str, tuple[bytes, int]]) -> None:
    messages = []
    for raw, _ in table.values():
        try:
            parse_request_head(raw[: raw.find(b"\r\n\r\n") + 4])
        except GatewayError as error:
            messages.append(error.message)

    assert messages
    assert all(message.isascii() and message.isprintable() for message in messages)


def test_a_target_over_the_limit_says_the_limit() -> None:
    error = refusal(line(b"GET /" + b"a" * 8_192 + b" HTTP/1.1"))

    assert "8192 bytes" in error.message


def test_too_many_headers_say_how_many_are_taken() -> None:
    error = refusal(get(*[b"X: a"] * 100))

    assert "100 headers" in error.message


# --- what is sound


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (line(b"GET / HTTP/1.1"), ("GET", "/", "")),
        (line(b"DELETE /a/b HTTP/1.1"), ("DELETE", "/a/b", "")),
        (line(b"GET /a?b=c&d HTTP/1.1"), ("GET", "/a", "b=c&d")),
        (line(b"GET /a?b?c HTTP/1.1"), ("GET", "/a", "b?c")),
        (line(b"GET //a/../%2e HTTP/1.1"), ("GET", "//a/../%2e", "")),
        (line(b"GET /a:b@c;d='e'~ HTTP/1.1"), ("GET", "/a:b@c;d='e'~", "")),
        (line(b"OPTIONS / HTTP/1.1"), ("OPTIONS", "/", "")),
        (line(b"GET /" + b"a" * 8_191 + b" HTTP/1.1"), ("GET", "/" + "a" * 8_191, "")),
    ],
)
def test_method_path_and_query_are_as_sent(raw: bytes, expected: tuple[str, str, str]) -> None:
    read = parse_request_head(raw)

    assert (read.method, read.path, read.query) == expected


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        (b"X: a", b"a"),
        (b"x:a", b"a"),
        (b"X:  \t a b \t ", b"a b"),
        (b"X:", b""),
        (b"X: \t", b""),
        (b"X: a\tb", b"a\tb"),
        (b"X: \xe4\xff", b"\xe4\xff"),
        (b"X: a:b", b"a:b"),
    ],
)
def test_values_lose_the_white_space_around_them_only(sent: bytes, value: bytes) -> None:
    read = parse_request_head(get(sent))

    assert read.headers[b"x"] == value


def test_repeated_headers_are_joined_in_order() -> None:
    read = parse_request_head(get(b"Accept: a", b"X: 1", b"accept:  b ", b"ACCEPT: c"))

    assert read.headers == {b"host": b"a", b"accept": b"a, b, c", b"x": b"1"}


def test_a_hundred_headers_are_taken() -> None:
    read = parse_request_head(get(*(b"X-%d: a" % at for at in range(99))))

    assert len(read.headers) == 100


@pytest.mark.parametrize("host", [b"a", b"a.b-c", b"a:8080", b"127.0.0.1", b"[::1]", b"[::ffff:1.2.3.4]:80", b"A."])
def test_sound_hosts_are_taken(host: bytes) -> None:
    read = parse_request_head(head(b"GET / HTTP/1.1", b"Host: " + host))

    assert read.headers[b"host"] == host


@pytest.mark.parametrize(
    ("headers", "framing"),
    [
        ((), (0, False)),
        ((b"Content-Length: 0",), (0, False)),
        ((b"Content-Length: 12",), (12, False)),
        ((b"CONTENT-LENGTH:12 ",), (12, False)),
        ((b"Content-Length: 999999999999999",), (999_999_999_999_999, False)),
        ((b"Transfer-Encoding: chunked",), (0, True)),
        ((b"transfer-encoding:\tChunked ",), (0, True)),
    ],
)
def test_the_framing_of_a_body_is_read(headers: tuple[bytes, ...], framing: tuple[int, bool]) -> None:
    read = parse_request_head(post(*headers))

    assert (read.content_length, read.is_chunked) == framing


@pytest.mark.parametrize(
    ("version", "connection", "keep_alive"),
    [
        (b"1.1", None, True),
        (b"1.1", b"close", False),
        (b"1.1", b"Close", False),
        (b"1.1", b"keep-alive", True),
        (b"1.1", b"keep-alive , close", False),
        (b"1.1", b"te", True),
        (b"1.0", None, False),
        (b"1.0", b"keep-alive", True),
        (b"1.0", b"Keep-Alive, TE", True),
        (b"1.0", b"keep-alive, close", False),
        (b"1.0", b"upgrade", False),
    ],
)
def test_the_connection_is_kept_as_version_and_header_say(
    version: bytes, connection: bytes | None, keep_alive: bool
) -> None:
    lines = [b"GET / HTTP/" + version, b"Host: a"]
    if connection is not None:
        lines.append(b"Connection: " + connection)

    read = parse_request_head(head(*lines))

    assert (read.keep_alive, read.is_http_1_0) == (keep_alive, version == b"1.0")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_close_in_one_of_two_connection_headers_closes(version: bytes, order: int) -> None:
    options = [b"Connection: keep-alive", b"Connection: close"][::order]

    assert not parse_request_head(head(b"GET / HTTP/" + version, b"Host: a", *options)).keep_alive


@pytest.mark.parametrize(("version", "expects"), [(b"1.1", True), (b"1.0", False)])
def test_an_expectation_is_met_on_http_1_1_only(version: bytes, expects: bool) -> None:
    read = parse_request_head(
        head(b"POST / HTTP/" + version, b"Host: a", b"Expect: 100-Continue", b"Content-Length: 1")
    )

    assert read.expects_continue is expects


def test_a_head_is_a_value() -> None:
    assert parse_request_head(get()) == RequestHead("GET", "/", "", {b"host": b"a"}, 0, False, True, False, False)


def test_a_head_full_of_white_space_is_read_in_linear_time() -> None:
    def work(size: int) -> None:
        for value in (b" " * size + b"x", b"x" + b" " * size, b"x" + b" \t" * (size // 2) + b"x"):
            verdict([get(b"X: " + value)])

    assert growth(work, 2_000, 32_000) < 100  # 16 times the bytes; quadratic would be 256


@pytest.mark.bug("I-05")
@pytest.mark.case("T64")
def test_headers_that_concern_this_connection_only_are_not_seen_beyond_it() -> None:
    raw = get(b"Connection: X-One ,keep-alive", b"X-One: 1", b"X-Two: 2", b"x-one: 3", b"Connection: x-absent, x-two,")

    found = parse_request_head(raw)

    assert sorted(found.headers) == [b"connection", b"host"]
    assert found.keep_alive


@pytest.mark.bug("I-05")
def test_no_length_and_no_host_is_lost_by_naming_it() -> None:
    raw = post(b"Connection: content-length, host, transfer-encoding", b"Content-Length: 5", body=b"12345")

    assert verdict([raw]).requests[0][1] == b"12345"


@pytest.mark.case("I24")
def test_a_connection_header_full_of_names_is_read_in_linear_time() -> None:
    def work(size: int) -> object:
        return parse_request_head(get(b"Connection: " + b"a," * size, *[b"a: b"] * 90))

    assert growth(work, 1_000, 15_000) < 60
