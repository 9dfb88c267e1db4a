"""The head of an answer, beyond what llhttp checks (pure).

llhttp itself refuses folded lines, bare line feeds, odd and repeated lengths, and a length beside a coding.
"""

from pointsman.domain.octets import holds
from pointsman.http1.header_block import HeaderBlock
from pointsman.http1.limits import UpstreamLimits

HEAD_END = b"\r\n\r\n"

_LENGTH, _CODING = b"\r\ncontent-length:", b"\r\ntransfer-encoding:"
_ENCODING = b"\r\ncontent-encoding:"


class ResponseHead:
    """Status and headers of an answer."""

    __slots__ = ("headers", "status")

    def __init__(self, status: int, headers: HeaderBlock) -> None:
        self.status, self.headers = status, headers

    @property
    def has_length(self) -> bool:
        """False: neither length nor chunks, the close of the connection is the end."""
        return holds(self.headers.lowered, _LENGTH) or holds(self.headers.lowered, _CODING)

    @property
    def is_encoded(self) -> bool:
        """Compressed, although it was asked not to be: its bytes are not what they seem."""
        return holds(self.headers.lowered, _ENCODING) and self.headers[b"content-encoding"].lower() != b"identity"

    def get(self, name: bytes) -> bytes | None:
        """The value of a header, its name in lower case."""
        return self.headers.get(name)


def read_response_head(status: int, raw: bytes, limits: UpstreamLimits) -> ResponseHead | None:
    """The head in `raw` (status line and header lines), or None if it is too large or ambiguous."""
    if len(raw) > limits.head_bytes or not 100 <= status <= 599 or not raw.startswith(b"HTTP/1."):
        return None
    if raw.count(b"\n") > limits.header_count + 1:
        return None
    headers = HeaderBlock(raw)  # the status line has no line end before it, and so is no header
    if holds(headers.lowered, _CODING) and headers[b"transfer-encoding"].lower() != b"chunked":
        return None  # a coding that is not decoded here, or more than one
    return ResponseHead(status, headers)
