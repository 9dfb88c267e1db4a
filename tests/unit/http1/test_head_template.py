"""A head that repeats the last one of its connection is read as if it had been parsed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.errors import GatewayError
from pointsman.http1.head import parse_request_head
from pointsman.http1.head_template import read_head

PLAIN = (
    b"POST /v1/chat/completions?a=b HTTP/1.1\r\n"
    b"Host: gateway\r\nContent-Length: 57\r\nX-Stainless-Lang: python\r\nConnection: keep-alive\r\n\r\n"
)


def with_length(length: bytes) -> bytes:
    return PLAIN.replace(b"57", length)


def after(first: bytes, second: bytes) -> object:
    """What comes of `second` on a connection whose last head was `first`: the head, or the status of its refusal."""
    _, template = read_head(first, None)
    return outcome(lambda: read_head(second, template)[0])


def outcome(read: object) -> object:
    try:
        return read()  # type: ignore[operator]
    except GatewayError as error:
        return error.status


@pytest.mark.parametrize("length", [b"0", b"7", b"57", b"123456"])
def test_another_length_alone_fits_the_template(length: bytes) -> None:
    head, template = read_head(PLAIN, None)

    found, kept = read_head(with_length(length), template)

    assert kept is template is not None
    assert found == parse_request_head(with_length(length))
    assert found.content_length == int(length)
    assert found.headers[b"content-length"] == length
    assert head.content_length == 57


@pytest.mark.parametrize(
    "length", [b"", b"-1", b"+1", b"01", b"1 ", b"1, 2", b"9" * 16, b"0x1", b"5\r\nContent-Length: 6"]
)
def test_a_length_that_would_be_refused_is_refused_behind_a_template_too(length: bytes) -> None:
    direct = outcome(lambda: parse_request_head(with_length(length)))

    assert after(PLAIN, with_length(length)) == direct
    assert isinstance(direct, int) or length == b"1 "


def test_a_head_of_another_shape_is_parsed_and_becomes_the_template() -> None:
    other = PLAIN.replace(b"python", b"js")
    _, template = read_head(PLAIN, None)

    found, renewed = read_head(other, template)

    assert found == parse_request_head(other)
    assert renewed is not None
    assert renewed.fit(other) == found


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:5\r\n\r\n",
    ],
)
def test_a_head_without_a_usual_length_is_no_template(head: bytes) -> None:
    _, template = read_head(head, None)

    assert template is None


@given(at=st.integers(0, len(PLAIN)), new=st.binary(max_size=4), cut=st.integers(0, 4))
def test_any_change_is_read_as_without_a_template(at: int, new: bytes, cut: int) -> None:
    changed = PLAIN[:at] + new + PLAIN[at + cut :]
    changed = changed.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"

    assert after(PLAIN, changed) == outcome(lambda: parse_request_head(changed))
