"""Compressed bodies: the plain one, or an error that says what is wrong, within bounds of size and of time."""

import asyncio
import gzip
import itertools
import random
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.errors import GatewayError
from pointsman.proxy.codings import decoded

MIB = 1 << 20
LIMIT = 8 * MIB
BODY = b'{"model":"chat","messages":[{"role":"user","content":"hi"}]}'
GZIP = gzip.compress(BODY)


def plain(body: bytes, coding: bytes, limit_bytes: int = LIMIT) -> bytes:
    return asyncio.run(decoded(body, coding, limit_bytes))


def refusal(body: bytes, coding: bytes, limit_bytes: int = LIMIT) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        plain(body, coding, limit_bytes)
    return caught.value


@pytest.mark.parametrize("coding", [b"gzip", b"GZIP", b" gzip ", b"x-gzip"])
def test_gzip_is_decoded(coding: bytes) -> None:
    assert plain(GZIP, coding) == BODY


def test_deflate_is_decoded() -> None:
    assert plain(zlib.compress(BODY), b"deflate") == BODY


@pytest.mark.parametrize("coding", [b"identity", b"Identity", b""])
def test_no_coding_changes_nothing(coding: bytes) -> None:
    assert plain(BODY, coding) is BODY


@given(st.binary(max_size=100_000))
def test_any_body_comes_back(body: bytes) -> None:
    assert plain(gzip.compress(body), b"gzip") == body


@pytest.mark.case("T61")
@pytest.mark.parametrize("coding", [b"br", b"zstd", b"compress", b"gzip, gzip", b"gzip;q=1", b"\xff"])
def test_any_other_coding_is_refused(coding: bytes) -> None:
    error = refusal(GZIP, coding)

    assert error.status == 415
    assert "gzip or deflate" in error.message


@pytest.mark.parametrize("cut", range(len(GZIP)))
def test_a_body_that_ends_too_early_is_refused_at_every_cut(cut: int) -> None:
    error = refusal(GZIP[:cut], b"gzip")

    assert (error.status, "ends too early" in error.message) == (400, True)


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (BODY, b"gzip"),
        (BODY, b"deflate"),
        (GZIP, b"deflate"),
        (zlib.compress(BODY), b"gzip"),
        (GZIP[:-8] + bytes(8), b"gzip"),
        (GZIP + b"x", b"gzip"),
        (GZIP + GZIP, b"gzip"),
    ],
    ids=["plain as gzip", "plain as deflate", "gzip as deflate", "deflate as gzip", "checksum", "rest", "two members"],
)
def test_a_body_that_is_something_else_is_refused(body: bytes, coding: bytes) -> None:
    assert refusal(body, coding).status == 400


@pytest.mark.case("T61")
def test_the_limit_is_one_of_the_plain_body() -> None:
    body = bytes(range(256)) * 4

    assert plain(gzip.compress(body), b"gzip", len(body)) == body
    assert refusal(gzip.compress(body), b"gzip", len(body) - 1).status == 413


@pytest.mark.case("T61")
@pytest.mark.parametrize(("length", "is_taken"), [(MIB, True), (MIB + 1, False)])
def test_small_bodies_may_repeat_themselves_and_bombs_may_not(length: int, *, is_taken: bool) -> None:
    bomb = gzip.compress(bytes(length))

    if is_taken:
        assert len(plain(bomb, b"gzip")) == length
    else:
        assert refusal(bomb, b"gzip").status == 413


@pytest.mark.case("T61", "I24")
def test_a_large_body_leaves_others_their_turns() -> None:
    async def story() -> float:
        turns = [time.monotonic()]

        async def beat() -> None:
            while True:
                await asyncio.sleep(0)
                turns.append(time.monotonic())

        beating = asyncio.create_task(beat())
        await decoded(gzip.compress(random.Random(7).randbytes(32 * MIB), 1), b"gzip", 64 * MIB)
        beating.cancel()
        return max(after - before for before, after in itertools.pairwise(turns[1:]))

    assert asyncio.run(story()) < 0.1


@pytest.mark.parametrize("rest", [b"x", bytes(1 << 19)], ids=["at once", "in a later piece"])
def test_what_follows_a_large_body_is_refused(rest: bytes) -> None:
    body = gzip.compress(random.Random(7).randbytes(1 << 18), 1)

    assert "more follows" in refusal(body + rest, b"gzip").message
