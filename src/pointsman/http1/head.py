"""The head of a request: one strict grammar, applied to the raw bytes before anything acts on them (pure).

Stricter than RFC 9112 where a second parser could read the same bytes differently: no folded lines, no
bare CR or LF, no leading zeros in lengths, one framing header at most, one Host, origin-form targets.
"""

import re

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.octets import holds
from pointsman.domain.value import Leaf
from pointsman.http1.header_block import SOUND_LINES, HeaderBlock

MAX_HEAD_BYTES = 32 * 1024
MAX_TARGET_BYTES = 8 * 1024
MAX_HEADERS = 100
HEAD_END = b"\r\n\r\n"

_REQUEST_LINE = re.compile(rb"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) (/[!\"$-~]*) HTTP/1\.([01])\r\n")
_PATH = re.compile(rb"/[!\"$-~]*")
_ANY_REQUEST_LINE = re.compile(rb"[A-Z]{3,20} ([!-~]+) HTTP/(\d)\.(\d)\r\n")
_HOST = re.compile(rb"(?:[A-Za-z0-9.\-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,14}")
_STAY_OR_GO = frozenset((b"close", b"keep-alive"))
_SINGLE = tuple(
    b"\r\n%b:" % name for name in (b"host", b"content-length", b"transfer-encoding", b"authorization", b"content-type")
)


class RequestHead(Leaf):
    """A request head that passed every rule."""

    method: str
    path: str  # as sent, without the query
    query: str
    headers: HeaderBlock  # but for Content-Length, so that requests of one client can share them
    content_length: int  # 0 when there is no body or its length is not announced
    is_chunked: bool
    keep_alive: bool
    expects_continue: bool
    is_http_1_0: bool


def parse_request_head(raw: bytes) -> RequestHead:
    """The head in `raw`, which ends with the empty line. Raises GatewayError (400, 414, 417, 431, 501, 505)."""
    line = _REQUEST_LINE.match(raw)
    if line is None:
        raise _request_line_fault(raw)
    method, target, minor = line.groups()
    if len(target) > MAX_TARGET_BYTES:
        raise _request_line_fault(raw)
    is_http_1_0 = minor == b"0"
    headers = _headers(raw, line.end())
    lowered = headers.lowered
    if _HOST.fullmatch(headers.get(b"host") or b"") is None:
        raise _bad("Exactly one valid Host header is required.")
    is_chunked = holds(lowered, b"\r\ntransfer-encoding:") and _is_chunked(headers, is_http_1_0)
    length = headers.get(b"content-length")
    if length is not None and _LENGTH.fullmatch(length) is None:
        raise _bad("Content-Length is not a plain decimal number.")
    is_kept = holds(lowered, b"\r\nconnection: keep-alive\r\n")
    is_plain = is_kept and not holds(lowered, b"close")  # a second header may say so
    options = frozenset() if is_plain else _options(headers)
    keep_alive = is_plain or _stays(options, is_http_1_0)
    expects_continue = holds(lowered, b"\r\nexpect:") and _expects_continue(headers[b"expect"], is_http_1_0)
    path, _, query = target.decode().partition("?")
    content_length = 0 if length is None else int(length)
    if not options <= _STAY_OR_GO:
        headers = _for_others(headers, options)
    return RequestHead(
        method.decode(), path, query, headers.without(b"content-length"), content_length, is_chunked, keep_alive,
        expects_continue, is_http_1_0,
    )  # fmt: skip


def _bad(message: str) -> GatewayError:
    return GatewayError(ErrorKind.BAD_REQUEST, message)


def _request_line_fault(raw: bytes) -> GatewayError:
    """Why the request line is refused."""
    line = _ANY_REQUEST_LINE.match(raw)
    if line is None:
        return _bad("The request line is not 'METHOD /path HTTP/1.1'.")
    if line.group(2) != b"1" or line.group(3) not in b"01":
        return GatewayError(ErrorKind.HTTP_VERSION, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    if len(line.group(1)) > MAX_TARGET_BYTES:
        return GatewayError(ErrorKind.URI_TOO_LONG, f"The request target is longer than {MAX_TARGET_BYTES} bytes.")
    if _PATH.fullmatch(line.group(1)) is not None:
        return GatewayError(ErrorKind.NOT_IMPLEMENTED, "This method is not known here.")
    return _bad("The request target must be a path that starts with '/', without a fragment.")


def _headers(raw: bytes, start: int) -> HeaderBlock:
    """The headers between the request line, which ends at `start`, and the empty line."""
    if SOUND_LINES.fullmatch(raw, start, len(raw) - 2) is None:
        raise _bad("A header line is malformed: names are letters, digits and hyphens, values have no control bytes.")
    headers = HeaderBlock(raw[start - 2 : -2])
    if headers.count() > MAX_HEADERS:
        raise GatewayError(ErrorKind.HEADERS_TOO_LARGE, f"There are more than {MAX_HEADERS} headers.")
    if max(map(headers.lowered.count, _SINGLE)) > 1:
        name = next(name for name in _SINGLE if headers.lowered.count(name) > 1)
        raise _bad(f"The header '{name[2:-1].decode()}' may be sent once only.")
    return headers


def _is_chunked(headers: HeaderBlock, is_http_1_0: bool) -> bool:  # noqa: FBT001
    if b"content-length" in headers or is_http_1_0:
        raise _bad("Transfer-Encoding is refused together with Content-Length and on HTTP/1.0.")
    if headers[b"transfer-encoding"].lower() != b"chunked":
        raise GatewayError(ErrorKind.NOT_IMPLEMENTED, "The only Transfer-Encoding taken is 'chunked'.")
    return True


def _options(headers: HeaderBlock) -> frozenset[bytes]:
    """What the Connection header lists."""
    connection = headers.get(b"connection")
    return frozenset() if connection is None else frozenset(map(bytes.strip, connection.lower().split(b",")))


def _stays(options: frozenset[bytes], is_http_1_0: bool) -> bool:  # noqa: FBT001
    """Whether the caller keeps the connection open."""
    return b"close" not in options and (not is_http_1_0 or b"keep-alive" in options)


def _for_others(headers: HeaderBlock, options: frozenset[bytes]) -> HeaderBlock:
    """Without those that Connection names: they concern this connection only (RFC 9110 7.6.1)."""
    for name in options.intersection(headers):
        while name in headers:
            headers = headers.without(name)
    return headers


def _expects_continue(expectation: bytes, is_http_1_0: bool) -> bool:  # noqa: FBT001
    """On HTTP/1.0 the expectation is ignored (RFC 9110 10.1.1)."""
    if expectation.lower() != b"100-continue":
        raise GatewayError(ErrorKind.EXPECTATION_FAILED, "The only expectation met is '100-continue'.")
    return not is_http_1_0
