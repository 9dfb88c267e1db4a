"""The head of an answer: checked as a whole, looked up header by header, since few are ever asked for (pure)."""

from pointsman.http1.limits import UpstreamLimits

HEAD_END = b"\r\n\r\n"

_LENGTH, _CODING = b"\r\ncontent-length:", b"\r\ntransfer-encoding:"
_USUAL_CODING = b"\r\ntransfer-encoding: chunked\r\n"


class ResponseHead:
    """Status and headers of an answer."""

    __slots__ = ("_lowered", "has_length", "raw", "status")

    def __init__(self, status: int, raw: bytes, lowered: bytes, *, has_length: bool) -> None:
        self.status = status
        self.raw = raw  # with the status line, without the empty one
        self.has_length = has_length  # neither length nor chunks: the close of the connection is the end
        self._lowered = lowered

    def get(self, name: bytes) -> bytes | None:
        """The value of a header (its name in lower case); of a repeated one the first."""
        at = self._lowered.find(b"\r\n%b:" % name)
        if at < 0:
            return None
        start = at + len(name) + 3
        return self.raw[start : self.raw.index(b"\r\n", start)].strip()

    def lines_of(self, prefix: bytes) -> bytes:
        """The header lines whose names begin with `prefix` (in lower case), as they came."""
        found, at = [], self._lowered.find(b"\r\n" + prefix)
        while at >= 0:
            end = self._lowered.index(b"\r\n", at + 2)
            found.append(self.raw[at + 2 : end + 2])
            at = self._lowered.find(b"\r\n" + prefix, end)
        return b"".join(found)


def read_response_head(status: int, raw: bytes, limits: UpstreamLimits) -> ResponseHead | None:
    """The head in `raw` (status line and header lines), or None if two readers could read it differently."""
    lowered = raw.lower()
    lengths, codings = lowered.count(_LENGTH), lowered.count(_CODING)
    if lengths + codings > 1 or len(raw) > limits.head_bytes or raw.count(b"\n") > limits.header_count + 1:
        return None
    if not 100 <= status <= 599 or b"\r\n " in raw or b"\r\n\t" in raw:  # folded lines
        return None
    if not raw.startswith(b"HTTP/1."):  # llhttp skips empty lines, and would read another head than this one
        return None
    head = ResponseHead(status, raw, lowered, has_length=lengths + codings == 1)
    if codings and _USUAL_CODING not in lowered and (head.get(b"transfer-encoding") or b"").lower() != b"chunked":
        return None  # a coding that is not decoded here
    return head
