"""The bytes of an attempt. One function builds every one: first choice, failover and retry alike (A-18)."""

from pointsman.domain.derived import derived
from pointsman.domain.target import Provider
from pointsman.http1.header_block import HeaderBlock

# of the caller's headers only these go on; credentials come from the target's configuration alone (I-03)
PASSED_ON = (b"openai-beta", b"traceparent")


def build(provider: Provider, path: str, body: bytes, stream: bool, headers: HeaderBlock) -> bytes:  # noqa: FBT001
    """A complete HTTP/1.1 POST; `headers` are the caller's."""
    fixed, passed_on = _fixed_lines(provider, path, stream), headers.lines(PASSED_ON)
    return b"%b%bcontent-length: %d\r\n\r\n%b" % (fixed, passed_on, len(body), body)


@derived(maxsize=1024)
def _fixed_lines(provider: Provider, path: str, stream: bool) -> bytes:  # noqa: FBT001  # part of a cache key
    lines = [
        f"POST {provider.path_prefix}{path} HTTP/1.1",
        f"host: {provider.origin.authority}",
        "content-type: application/json",
        f"accept: {'text/event-stream' if stream else 'application/json'}",
        "accept-encoding: identity",
        *(f"{name}: {value.reveal()}" for name, value in provider.headers),
    ]
    if provider.api_key is not None:
        lines.append(f"authorization: Bearer {provider.api_key.reveal()}")
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")
