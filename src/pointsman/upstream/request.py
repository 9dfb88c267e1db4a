"""The bytes of an attempt. One function builds every one: first choice, failover and retry alike (A-18)."""

from collections.abc import Iterable, Iterator

from pointsman.domain.derived import derived
from pointsman.domain.target import KeyStyle, Provider
from pointsman.http1.header_block import HeaderBlock

VERSION = b"anthropic-version"  # the first of its dialect's headers that are passed on
_KEY_LINE = {KeyStyle.BEARER: "authorization: Bearer", KeyStyle.X_API_KEY: "x-api-key:"}


def build(
    provider: Provider,
    path: str,
    body: bytes,
    stream: bool,  # noqa: FBT001
    headers: HeaderBlock,
    allowed: tuple[bytes, ...],
) -> bytes:
    """A complete HTTP/1.1 POST.

    Of `headers`, the caller's, only those whose names are `allowed` go on; credentials come from the target's
    configuration alone (I-03).
    """
    passed_on = headers.lines(allowed)
    if not passed_on.isascii():  # terminals and other parsers may find control characters in it
        passed_on = b"".join([line for line in passed_on.splitlines(keepends=True) if line.isascii()])
    fixed = _fixed_lines(provider, path, stream, passed_on.startswith(VERSION))
    return b"%b%bcontent-length: %d\r\n\r\n" % (fixed, passed_on, len(body)) + body  # formatted in, it is copied twice


def without_body(provider: Provider, method: str, target: str) -> bytes:
    """A complete request for something that the provider keeps: it depends on nothing that the caller's head says."""
    length = ["content-length: 0"] if method == "POST" else []
    lines = [f"{method} {provider.path_prefix}{target} HTTP/1.1", *_common_lines(provider, "application/json"), *length]
    return _block((*lines, *_own_lines(provider, has_version=False))) + b"\r\n"


@derived(maxsize=1024)
def _fixed_lines(provider: Provider, path: str, stream: bool, has_version: bool) -> bytes:  # noqa: FBT001  # a cache key
    """All that does not depend on the caller, but for whether it names a version itself."""
    common = _common_lines(provider, "text/event-stream" if stream else "application/json")
    first = f"POST {provider.path_prefix}{path} HTTP/1.1"
    return _block((first, "content-type: application/json", *common, *_own_lines(provider, has_version=has_version)))


def _common_lines(provider: Provider, accepted: str) -> tuple[str, ...]:
    return f"host: {provider.origin.authority}", f"accept: {accepted}", "accept-encoding: identity"


def _own_lines(provider: Provider, *, has_version: bool) -> Iterator[str]:
    """Those of the configuration, its credential among them."""
    for name, value in provider.headers:
        if not (has_version and name.lower().encode() == VERSION):
            yield f"{name}: {value.reveal()}"
    if provider.api_key is not None:
        yield f"{_KEY_LINE[provider.key_style]} {provider.api_key.reveal()}"


def _block(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")
