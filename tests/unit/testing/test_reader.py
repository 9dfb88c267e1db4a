"""Bytes in, whole requests out, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.testing.reader import MalformedRequestError, Message, RequestReader

REQUESTS = (
    b"POST /v1/x?q=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    b"GET / HTTP/1.1\r\n\r\n"
    b"POST /y HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
)
MESSAGES = [
    Message("POST", "/v1/x?q=1", [(b"Host", b"a"), (b"Content-Length", b"3")], b"abc", is_last=False),
    Message("GET", "/", [], b"", is_last=False),
    Message("POST", "/y", [(b"transfer-encoding", b"chunked"), (b"connection", b"close")], b"hi", is_last=True),
]


@given(cuts=st.lists(st.integers(0, len(REQUESTS)), max_size=12))
def test_requests_do_not_depend_on_where_the_bytes_are_cut(cuts: list[int]) -> None:
    found: list[Message] = []
    reader = RequestReader(found.append)
    edges = [0, *sorted(cuts), len(REQUESTS)]

    for begin, end in pairwise(edges):
        reader.feed(REQUESTS[begin:end])

    assert found == MESSAGES


def test_http_1_0_is_the_last_request_of_its_connection() -> None:
    found: list[Message] = []

    RequestReader(found.append).feed(b"GET / HTTP/1.0\r\n\r\n")

    assert found[0].is_last


@pytest.mark.parametrize(
    "data",
    [b"\x00", b"GET / HTTP/9\r\n\r\n", b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"],
)
def test_what_is_no_request_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedRequestError):
        RequestReader(lambda _: None).feed(data)


def test_requests_before_the_fault_are_handed_out() -> None:
    found: list[Message] = []

    with pytest.raises(MalformedRequestError):
        RequestReader(found.append).feed(b"GET /good HTTP/1.1\r\n\r\n\x00\x00")

    assert [message.path for message in found] == ["/good"]


def test_a_fault_of_the_receiver_is_not_the_requests() -> None:
    def fail(message: Message) -> None:
        raise LookupError(message.path)

    with pytest.raises(LookupError, match="/x"):
        RequestReader(fail).feed(b"GET /x HTTP/1.1\r\n\r\n")
