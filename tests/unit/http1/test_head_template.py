"""A head that repeats the last one of its connection is read as if it had been parsed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.errors import GatewayError
from pointsman.http1.head import MAX_HEAD_BYTES, RequestHead, parse_request_head
from pointsman.http1.head_template import HeadTemplate, template_of

PLAIN = (
    b"POST /v1/chat/completions?a=b HTTP/1.1\r\n"
    b"Host: gateway\r\nContent-Length: 57\r\nX-Stainless-Lang: python\r\nConnection: keep-alive\r\n\r\n"
)


def with_length(length: bytes) -> bytes:
    return PLAIN.replace(b"57", length)


def template() -> HeadTemplate:
    made = template_of(PLAIN, parse_request_head(PLAIN))
    assert made is not None
    return made


def parsed(raw: bytes) -> RequestHead | None:
    """The head, or None if it is refused."""
    try:
        return parse_request_head(raw)
    except GatewayError:
        return None


@pytest.mark.parametrize("length", [b"0", b"7", b"57", b"123456", b"9" * 15])
def test_another_length_alone_fits_the_template(length: bytes) -> None:
    raw = with_length(length)

    fitted = template().fit(raw + b"body\r\n\r\n")

    assert fitted == (parse_request_head(raw), len(raw))
    assert fitted[0].content_length == int(length)
    assert fitted[0].headers[b"x-stainless-lang"] == b"python"


@pytest.mark.parametrize(
    "length", [b"", b"-1", b"+1", b"01", b"1 ", b"1, 2", b"9" * 16, b"0x1", b"5\r\nContent-Length: 6"]
)
def test_an_odd_length_fits_no_template_so_that_it_is_parsed_or_refused(length: bytes) -> None:
    assert template().fit(with_length(length)) is None


@pytest.mark.parametrize("cut", [0, 10, PLAIN.index(b"57"), PLAIN.index(b"57") + 1, len(PLAIN) - 1])
def test_a_head_that_is_not_there_yet_fits_no_template(cut: int) -> None:
    assert template().fit(PLAIN[:cut]) is None


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:5\r\n\r\n",
    ],
)
def test_a_head_without_a_usual_length_is_no_template(head: bytes) -> None:
    assert template_of(head, parse_request_head(head)) is None


def test_no_template_makes_a_longer_head_pass_than_the_limit() -> None:
    filler = MAX_HEAD_BYTES - len(PLAIN) - len(b"X: \r\n")
    raw = PLAIN.replace(b"X-St", b"X: %b\r\nX-St" % (b"a" * filler))

    assert len(raw) == MAX_HEAD_BYTES
    assert template_of(raw, parse_request_head(raw)) is None


@given(at=st.integers(0, len(PLAIN)), new=st.binary(max_size=4), cut=st.integers(0, 4))
def test_whatever_fits_is_read_as_without_a_template(at: int, new: bytes, cut: int) -> None:
    changed = PLAIN[:at] + new + PLAIN[at + cut :]
    changed = changed.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"

    fitted = template().fit(changed)

    assert fitted is None or fitted == (parsed(changed), len(changed))
