"""The head of a request: one strict grammar, applied to the raw bytes before anything acts on them (pure).

Stricter than RFC 9112 where a second parser could read the same bytes differently: no folded lines, no
bare CR or LF, no leading zeros in lengths, one framing header at most, one Host, origin-form targets.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from pointsman.domain.errors import ErrorKind, GatewayError

MAX_HEAD_BYTES = 32 * 1024
MAX_TARGET_BYTES = 8 * 1024
MAX_HEADERS = 100
HEAD_END = b"\r\n\r\n"

_REQUEST_LINE = re.compile(rb"([A-Z]{3,20}) (/[!\"$-~]*) HTTP/1\.([01])\r\n")
_ANY_REQUEST_LINE = re.compile(rb"[A-Z]{3,20} ([!-~]+) HTTP/(\d)\.(\d)\r\n")
# no underscore in a name: proxies in front map it to a hyphen, and two names become one
# white space around a value is stripped later: two repeats that both match it would backtrack in quadratic time
_HEADER = re.compile(rb"^([!#$%&'*+\-.^`|~0-9A-Za-z]+):([^\x00-\x08\x0a-\x1f\x7f]*)\r\n", re.MULTILINE)
_HOST = re.compile(rb"(?:[A-Za-z0-9.\-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,14}")
_SINGLE = frozenset((b"host", b"content-length", b"transfer-encoding", b"authorization", b"content-type"))


class RequestHead(Struct, frozen=True, gc=False):
    """A request head that passed every rule."""

    method: str
    path: str  # as sent, without the query
    query: str
    headers: Mapping[bytes, bytes]  # lower-case names; repeated ones joined with a comma
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
    if _HOST.fullmatch(headers.get(b"host", b"")) is None:
        raise _bad("Exactly one valid Host header is required.")
    content_length, is_chunked = _framing(headers, is_http_1_0=is_http_1_0)
    path, _, query = target.decode().partition("?")
    connection = headers.get(b"connection")
    return RequestHead(
        method.decode(), path, query, headers, content_length, is_chunked,
        not is_http_1_0 if connection is None else connection == b"keep-alive" or _stays(connection, is_http_1_0),
        b"expect" in headers and _expects_continue(headers[b"expect"]) and not is_http_1_0,  # RFC 9110 10.1.1
        is_http_1_0,
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
    return _bad("The request target must be a path that starts with '/', without a fragment.")


def _headers(raw: bytes, start: int) -> dict[bytes, bytes]:
    pairs: list[tuple[bytes, bytes]] = _HEADER.findall(raw, start)
    lines = len(pairs) + 2  # with the request line and the empty one: every CR and LF must belong to one of them
    if raw.count(b"\n") != lines or raw.count(b"\r") != lines:
        raise _bad("A header line is malformed: names are letters, digits and hyphens, values have no control bytes.")
    if len(pairs) > MAX_HEADERS:
        raise GatewayError(ErrorKind.HEADERS_TOO_LARGE, f"There are more than {MAX_HEADERS} headers.")
    if not pairs:
        return {}
    names, values = zip(*pairs, strict=True)
    headers = dict(zip(map(bytes.lower, names), map(bytes.strip, values), strict=True))
    return headers if len(headers) == len(pairs) else _joined(pairs)


def _joined(pairs: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Repeated headers, joined as RFC 9110 5.3 says, or refused where two would mean two things."""
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        key = name.lower()
        if key in headers and key in _SINGLE:
            raise _bad(f"The header '{key.decode()}' may be sent once only.")
        headers[key] = value.strip(b" \t") if key not in headers else headers[key] + b", " + value.strip(b" \t")
    return headers


def _framing(headers: Mapping[bytes, bytes], *, is_http_1_0: bool) -> tuple[int, bool]:
    coding, length = headers.get(b"transfer-encoding"), headers.get(b"content-length")
    if coding is not None:
        if length is not None or is_http_1_0:
            raise _bad("Transfer-Encoding is refused together with Content-Length and on HTTP/1.0.")
        if coding.lower() != b"chunked":
            raise GatewayError(ErrorKind.NOT_IMPLEMENTED, "The only Transfer-Encoding taken is 'chunked'.")
        return 0, True
    if length is None:
        return 0, False
    if _LENGTH.fullmatch(length) is None:
        raise _bad("Content-Length is not a plain decimal number.")
    return int(length), False


def _stays(connection: bytes, is_http_1_0: bool) -> bool:  # noqa: FBT001
    """Whether the caller keeps the connection open, by its Connection header."""
    options = {token.strip() for token in connection.lower().split(b",")}
    return b"close" not in options and (not is_http_1_0 or b"keep-alive" in options)


def _expects_continue(expectation: bytes) -> bool:
    if expectation.lower() != b"100-continue":
        raise GatewayError(ErrorKind.EXPECTATION_FAILED, "The only expectation met is '100-continue'.")
    return True
