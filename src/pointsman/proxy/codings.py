"""Compressed request bodies: decoded step by step, and never to more than a plain body may have."""

import asyncio
import zlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pointsman.domain.errors import ErrorKind, GatewayError

_WINDOW_BITS: Mapping[bytes, int] = MappingProxyType(
    {
        b"gzip": zlib.MAX_WBITS | 16,  # 16: with the header and the checksum of gzip
        b"x-gzip": zlib.MAX_WBITS | 16,
        b"deflate": zlib.MAX_WBITS,
    }
)
_PLAIN = (b"", b"identity")
_STEP_BYTES = 1 << 20  # decoded in 1 to 4 ms; then others have their turn
_FED_BYTES = 1 << 18  # at a time: zlib copies what it has not used yet after each step
_ALWAYS_BYTES = 1 << 20  # small bodies may repeat themselves as much as they like
_MAX_RATIO = 100  # text shrinks to a tenth, only bombs to a thousandth


async def decoded(body: bytes, coding: bytes, limit_bytes: int) -> bytes:
    """The plain body. Raises GatewayError: 415 for any other coding, 413 above the limit, 400 for nonsense."""
    name = coding.strip().lower()
    if name in _PLAIN:
        return body
    if name not in _WINDOW_BITS:
        raise _not_taken(coding)
    most_bytes = min(limit_bytes, max(_ALWAYS_BYTES, _MAX_RATIO * len(body)))
    parts: list[bytes] = []
    length = 0
    try:
        for part in _pieces(body, name):
            parts.append(part)
            length += len(part)
            if length > most_bytes:
                raise _too_large(most_bytes)
            await asyncio.sleep(0)
    except zlib.error:
        raise _broken(name, "it is something else") from None
    return b"".join(parts)


def _pieces(body: bytes, name: bytes) -> Iterator[bytes]:
    """What comes out, piece by piece. Raises GatewayError and zlib.error."""
    decoder = zlib.decompressobj(_WINDOW_BITS[name])
    for at in range(0, len(body), _FED_BYTES):
        rest = body[at : at + _FED_BYTES]
        if decoder.eof:
            break
        while rest and not decoder.eof:
            yield decoder.decompress(rest, _STEP_BYTES)
            rest = decoder.unconsumed_tail
    else:
        rest = b""
    while not decoder.eof:
        if not (last := decoder.decompress(b"", _STEP_BYTES)):
            raise _broken(name, "it ends too early")
        yield last
    if rest or decoder.unused_data:
        raise _broken(name, "more follows after its end")


def _not_taken(coding: bytes) -> GatewayError:
    named = coding.decode("latin-1")[:40]
    text = f"Request bodies are taken plain, or as gzip or deflate, not as '{named}'; leave out Content-Encoding."
    return GatewayError(ErrorKind.UNSUPPORTED_ENCODING, text)


def _too_large(most_bytes: int) -> GatewayError:
    text = f"Decoded, the request body is larger than the limit of {most_bytes} bytes."
    return GatewayError(ErrorKind.REQUEST_TOO_LARGE, text)


def _broken(name: bytes, why: str) -> GatewayError:
    text = f"The request body is not valid {name.decode()}: {why}. Send it as Content-Encoding says, or plain."
    return GatewayError(ErrorKind.BAD_REQUEST, text)
