"""The head of an answer, beyond what llhttp checks (pure)."""

import re

from pointsman.http1.header_block import HeaderBlock
from pointsman.http1.limits import UpstreamLimits

HEAD_END = b"\r\n\r\n"

_LENGTH, _CODING = b"\r\ncontent-length:", b"\r\ntransfer-encoding:"
_FOLDED = re.compile(rb"\n[ \t]")
_USUAL_CODING = b"\r\ntransfer-encoding: chunked\r\n"


class ResponseHead:
    """Status and headers of an answer."""

    __slots__ = ("has_length", "headers", "status")

    def __init__(self, status: int, headers: HeaderBlock, *, has_length: bool) -> None:
        self.status, self.headers = status, headers
        self.has_length = has_length  # neither length nor chunks: the close of the connection is the end

    def get(self, name: bytes) -> bytes | None:
        """The value of a header, its name in lower case."""
        return self.headers.get(name)


def read_response_head(status: int, raw: bytes, limits: UpstreamLimits) -> ResponseHead | None:
    """The head in `raw` (status line and header lines), or None if two readers could read it differently."""
    if len(raw) > limits.head_bytes or not 100 <= status <= 599 or not raw.startswith(b"HTTP/1."):
        return None
    headers = HeaderBlock(raw[raw.index(b"\r\n") :])
    lowered = headers.lowered
    lengths, codings = lowered.count(_LENGTH), lowered.count(_CODING)
    if lengths + codings > 1 or headers.count() > limits.header_count or _FOLDED.search(raw) is not None:
        return None
    if codings and _USUAL_CODING not in lowered and (headers.get(b"transfer-encoding") or b"").lower() != b"chunked":
        return None  # a coding that is not decoded here
    return ResponseHead(status, headers, has_length=lengths + codings == 1)
