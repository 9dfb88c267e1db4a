"""Requests that are almost sound: bytes of sound and unsound ones, changed here and there, always the same ones."""

import random
from collections.abc import Iterator, Sequence

from tests.unit.http1.heads import MUST_REFUSE, chunked, get, post

SOUND = (
    get(),
    get(b"Accept: */*", b"X-A: b"),
    post(b"Content-Length: 5", body=b"hello"),
    post(b"Content-Type: application/json", b"Content-Length: 2", b"Connection: keep-alive", body=b"{}"),
    post(b"Content-Length: 0"),
    post(b"Expect: 100-continue", b"Content-Length: 3", body=b"abc"),
    chunked(b"5\r\nhello\r\n0\r\n\r\n"),
    chunked(b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX-Sum: 1\r\n\r\n"),
    b"GET /a/b?c=d HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    post(b"Content-Length: 5", body=b"hello") + get(),
)
SEEDS = (*SOUND, *(raw for raw, _ in MUST_REFUSE.values() if len(raw) < 400))
TOKENS = (
    b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b",", b";", b"\x00", b"\x0b", b"\x0c", b"\x7f", b"\x80", b"\xff", b"0",
    b"1", b"a", b"-", b"+", b"_", b"/", b"?", b"#", b"@", b"\\", b'"', b"\r\n ", b"\r\n\t", b"\r\n\r\n", b"Host: b\r\n",
    b"Content-Length: 1\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"chunked", b"identity",
    b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"0\r\n\r\n", b"1\r\na\r\n", b"0x1", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
)  # fmt: skip


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """`count` of them; each is a seed with one to four changes."""
    draws = random.Random(seed)
    for _ in range(count):
        raw = draws.choice(SEEDS)
        for _ in range(draws.randint(1, 4)):
            raw = _changed(raw, draws)
        yield raw


def _changed(raw: bytes, draws: random.Random) -> bytes:
    at = draws.randrange(len(raw) + 1)
    end = min(len(raw), at + draws.choice((1, 1, 1, 2, 8)))
    kind = draws.randrange(5)
    if kind == 0:
        return raw[:at] + _pick(TOKENS, draws) + raw[at:]
    if kind == 1:
        return raw[:at] + _pick(TOKENS, draws) + raw[end:]
    if kind == 2:
        return raw[:at] + raw[end:] or raw
    if kind == 3:
        return raw[:at] + raw[at:end] * 2 + raw[end:]
    lines = raw.split(b"\r\n")
    lines.insert(draws.randrange(len(lines) + 1), _pick(lines, draws))
    return b"\r\n".join(lines)


def _pick(among: Sequence[bytes], draws: random.Random) -> bytes:
    return draws.choice(among)
