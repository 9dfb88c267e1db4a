"""However the bytes of a connection are cut, they mean the same."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.http1.heads import MUST_REFUSE, chunked, get, post, verdict

SEEDED = settings(deadline=None, derandomize=True)
BODIES = st.binary(max_size=200)


@st.composite
def in_chunks(draw: st.DrawFn) -> tuple[bytes, bytes]:
    parts = draw(st.lists(st.binary(min_size=1, max_size=60), max_size=5))
    extension = draw(st.sampled_from([b"", b";a", b' ; a="b"']))
    trailer = draw(st.sampled_from([b"", b"X-Sum: 1\r\n", b"A:\r\nB: c\r\n"]))
    coded = b"".join(b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts)
    return chunked(coded + b"0" + extension + b"\r\n" + trailer + b"\r\n"), b"".join(parts)


REQUESTS = st.one_of(
    st.just((get(), b"")),
    BODIES.map(lambda body: (post(b"Content-Length: %d" % len(body), body=body), body)),
    in_chunks(),
)


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    return [raw[start:end] for start, end in itertools.pairwise(at)]


@SEEDED
@given(
    sent=st.lists(REQUESTS, min_size=1, max_size=5),
    rest=st.sampled_from([b"", b"\r\n", b"GET", b"POST / HTTP/1.1\r\nHo", post(b"Content-Length: 9", body=b"ab")]),
    cuts=st.lists(st.integers(0, 4_000), max_size=12),
)
def test_any_cut_gives_the_same_requests_and_the_same_rest(
    sent: list[tuple[bytes, bytes]], rest: bytes, cuts: list[int]
) -> None:
    raw = b"".join(request for request, _ in sent) + rest

    read = verdict(pieces(raw, cuts))

    assert [body for _, body in read.requests] == [body for _, body in sent]
    assert read == verdict([raw])


@SEEDED
@given(
    before=st.lists(REQUESTS, max_size=2),
    refused=st.sampled_from([raw for raw, _ in MUST_REFUSE.values() if len(raw) < 1_000]),
    cuts=st.lists(st.integers(0, 4_000), max_size=8),
)
def test_a_refusal_behind_sound_requests_takes_nothing_from_them(
    before: list[tuple[bytes, bytes]], refused: bytes, cuts: list[int]
) -> None:
    raw = b"".join(request for request, _ in before) + refused

    read = verdict(pieces(raw, cuts))

    assert [body for _, body in read.requests] == [body for _, body in before]
    assert read.status is not None


@SEEDED
@given(raw=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=8))
def test_arbitrary_bytes_never_break_the_reader(raw: bytes, cuts: list[int]) -> None:
    assert verdict(pieces(raw, cuts)) == verdict([raw])


@SEEDED
@given(
    raw=st.lists(st.sampled_from([b"GET", b" ", b"/", b" HTTP/1.1", b"\r\n", b"\r", b"\n", b"Host: a", b":", b"0"]))
    .map(b"".join)
    .filter(lambda raw: len(raw) < 200),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_almost_a_head_gives_one_verdict_however_it_is_cut(raw: bytes, cuts: list[int]) -> None:
    assert verdict(pieces(raw, cuts)) == verdict([raw])
