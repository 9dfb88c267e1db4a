"""Requests as bytes: what must be refused, what is sound, and what the reader makes of either."""

from collections.abc import Iterable

from msgspec import Struct

from pointsman.domain.errors import GatewayError
from pointsman.http1.head import RequestHead
from pointsman.http1.request_reader import ReadPhase, RequestReader

BODY_LIMIT = 4_096


class Verdict(Struct, frozen=True):
    """What came of some bytes: requests in order, then the status of the refusal (None: still listening)."""

    requests: tuple[tuple[RequestHead, bytes], ...]
    status: int | None
    phase: ReadPhase | None = None  # where a reader that still listens stands
    held_bytes: int = 0


def verdict(pieces: Iterable[bytes], body_limit: int = BODY_LIMIT) -> Verdict:
    reader = RequestReader(body_limit)
    requests: list[tuple[RequestHead, bytes]] = []
    try:
        for piece in pieces:
            request = reader.feed(piece)
            while request is not None:
                requests.append(request)
                request = reader.feed(b"") if reader.held_bytes else None
    except GatewayError as error:
        return Verdict(tuple(requests), error.status)
    return Verdict(tuple(requests), None, reader.phase, reader.held_bytes)


def bytewise(raw: bytes) -> list[bytes]:
    return [raw[at : at + 1] for at in range(len(raw))]


def head(*lines: bytes) -> bytes:
    return b"\r\n".join((*lines, b"", b""))


def get(*headers: bytes) -> bytes:
    return head(b"GET / HTTP/1.1", b"Host: a", *headers)


def post(*headers: bytes, body: bytes = b"") -> bytes:
    return head(b"POST / HTTP/1.1", b"Host: a", *headers) + body


def chunked(body: bytes) -> bytes:
    return post(b"Transfer-Encoding: chunked", body=body)


def line(raw: bytes) -> bytes:
    return head(raw, b"Host: a")


REQUEST_LINES: dict[str, tuple[bytes, int]] = {
    "http 0.9 without version": (line(b"GET /"), 400),
    "http 0.9 spelt out": (line(b"GET / HTTP/0.9"), 505),
    "http 2.0": (line(b"GET / HTTP/2.0"), 505),
    "http 1.2": (line(b"GET / HTTP/1.2"), 505),
    "preface of http 2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "two digits of version": (line(b"GET / HTTP/1.10"), 400),
    "version without minor": (line(b"GET / HTTP/1"), 400),
    "lower-case version": (line(b"GET / http/1.1"), 400),
    "version with a comma": (line(b"GET / HTTP/1,1"), 400),
    "no slash in the version": (line(b"GET / HTTP1.1"), 400),
    "other protocol": (line(b"GET / ICY/1.1"), 400),
    "double space before the target": (line(b"GET  / HTTP/1.1"), 400),
    "double space before the version": (line(b"GET /  HTTP/1.1"), 400),
    "space after the version": (line(b"GET / HTTP/1.1 "), 400),
    "space before the method": (line(b" GET / HTTP/1.1"), 400),
    "tab before the target": (line(b"GET\t/ HTTP/1.1"), 400),
    "tab before the version": (line(b"GET /\tHTTP/1.1"), 400),
    "space in the target": (line(b"GET /a b HTTP/1.1"), 400),
    "no target": (line(b"GET HTTP/1.1"), 400),
    "empty target": (line(b"GET  HTTP/1.1"), 400),
    "lower-case method": (line(b"get / HTTP/1.1"), 400),
    "method with a digit": (line(b"G3T / HTTP/1.1"), 400),
    "method with a colon": (line(b"GET: / HTTP/1.1"), 400),
    "unknown method": (line(b"POSTS / HTTP/1.1"), 501),
    "unknown method of WebDAV": (line(b"PROPFIND / HTTP/1.1"), 501),
    "method of a proxy": (line(b"CONNECT / HTTP/1.1"), 501),
    "empty line made of CR": (b"\r" + get(), 400),
    "empty line made of LF first": (b"\n" + get(), 400),
    "CR after an empty line": (b"\r\n\r" + get(), 400),
    "no method": (line(b"/ HTTP/1.1"), 400),
    "method without end": (line(b"G" * 21 + b" / HTTP/1.1"), 400),
    "absolute form": (line(b"GET http://a/ HTTP/1.1"), 400),
    "authority form": (line(b"CONNECT a:443 HTTP/1.1"), 400),
    "asterisk form": (line(b"OPTIONS * HTTP/1.1"), 400),
    "fragment": (line(b"GET /a#b HTTP/1.1"), 400),
    "relative target": (line(b"GET a HTTP/1.1"), 400),
    "non-ASCII target": (line("GET /ä HTTP/1.1".encode()), 400),
    "NUL in the target": (line(b"GET /\x00 HTTP/1.1"), 400),
    "DEL in the target": (line(b"GET /\x7f HTTP/1.1"), 400),
    "target of 8 KB and a byte": (line(b"GET /" + b"a" * 8_192 + b" HTTP/1.1"), 414),
    "long absolute form": (line(b"GET http://" + b"a" * 8_192 + b" HTTP/1.1"), 414),
    "LF ends the request line": (b"GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    "CR ends the request line": (b"GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
    "a greeting of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "a greeting of SSH": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400),
}

FRAMING: dict[str, tuple[bytes, int]] = {
    "length, then coding": (post(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "coding, then length": (post(b"Transfer-Encoding: chunked", b"Content-Length: 5", body=b"0\r\n\r\n"), 400),
    "length of zero and coding": (post(b"Content-Length: 0", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "two lengths": (post(b"Content-Length: 1", b"Content-Length: 2", body=b"ab"), 400),
    "two equal lengths": (post(b"Content-Length: 1", b"content-length: 1", body=b"a"), 400),
    "list of lengths": (post(b"Content-Length: 1, 1", body=b"a"), 400),
    "length with a plus": (post(b"Content-Length: +1", body=b"a"), 400),
    "length with a minus": (post(b"Content-Length: -1", body=b"a"), 400),
    "minus zero": (post(b"Content-Length: -0"), 400),
    "space in a length": (post(b"Content-Length: 1 1", body=b"a"), 400),
    "underscore in a length": (post(b"Content-Length: 1_1", body=b"a"), 400),
    "leading zero": (post(b"Content-Length: 01", body=b"a"), 400),
    "two zeros": (post(b"Content-Length: 00"), 400),
    "4,400 zeros": (post(b"Content-Length: " + b"0" * 4_400 + b"1", body=b"a"), 400),
    "hexadecimal length": (post(b"Content-Length: 0x1", body=b"a"), 400),
    "fraction": (post(b"Content-Length: 1.0", body=b"a"), 400),
    "exponent": (post(b"Content-Length: 1e0", body=b"a"), 400),
    "empty length": (post(b"Content-Length:"), 400),
    "digits of another script": (post(b"Content-Length: \xd9\xa1"), 400),
    "length of 16 digits": (post(b"Content-Length: 1" + b"0" * 15), 400),
    "length over the limit": (post(b"Content-Length: %d" % (BODY_LIMIT + 1)), 413),
    "coding on HTTP/1.0": (head(b"POST / HTTP/1.0", b"Host: a", b"Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
    "list of codings": (post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"), 501),
    "chunked twice in a list": (post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"), 501),
    "chunked twice": (post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "identity, then chunked": (post(b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked"), 400),
    "identity": (post(b"Transfer-Encoding: identity"), 501),
    "chunked, then identity in a list": (post(b"Transfer-Encoding: chunked, identity"), 501),
    "chunked with a parameter": (post(b"Transfer-Encoding: chunked;q=1"), 501),
    "quoted coding": (post(b'Transfer-Encoding: "chunked"'), 501),
    "comma before the coding": (post(b"Transfer-Encoding: ,chunked"), 501),
    "empty coding": (post(b"Transfer-Encoding:"), 501),
    "unknown coding": (post(b"Transfer-Encoding: xchunked"), 501),
    "vertical tab before the coding": (post(b"Transfer-Encoding: \x0bchunked"), 400),
    "non-ASCII coding": (post(b"Transfer-Encoding: chunked\xa0"), 501),
}

HEADERS: dict[str, tuple[bytes, int]] = {
    "folded line": (get(b"X: a", b" b"), 400),
    "folded line with a tab": (get(b"X: a", b"\tb"), 400),
    "space before the first header": (head(b"GET / HTTP/1.1", b" Host: a"), 400),
    "LF ends a header": (b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    "LF in a value": (get(b"X: a\nb"), 400),
    "CR in a value": (get(b"X: a\rb"), 400),
    "CR before the end": (get(b"X: a\r"), 400),
    "empty line made of LF": (b"GET / HTTP/1.1\r\nHost: a\r\n\nX: b\r\n\r\n", 400),
    "NUL in a value": (get(b"X: a\x00b"), 400),
    "control byte in a value": (get(b"X: a\x01b"), 400),
    "escape in a value": (get(b"X: \x1b[2J"), 400),
    "form feed in a value": (get(b"X: a\x0cb"), 400),
    "DEL in a value": (get(b"X: a\x7f"), 400),
    "underscore in a name": (get(b"Content_Length: 1"), 400),
    "space before the colon": (get(b"X : a"), 400),
    "tab before the colon": (get(b"X\t: a"), 400),
    "space within a name": (get(b"X Y: a"), 400),
    "empty name": (get(b": a"), 400),
    "no colon": (get(b"X"), 400),
    "NUL in a name": (get(b"X\x00: a"), 400),
    "non-ASCII name": (get("Ä: a".encode()), 400),
    "byte of Latin-1 in a name": (get(b"X\xa0: a"), 400),
    "bracket in a name": (get(b"X[]: a"), 400),
    "slash in a name": (get(b"X/Y: a"), 400),
    "no host": (head(b"GET / HTTP/1.1"), 400),
    "no host on HTTP/1.0": (head(b"GET / HTTP/1.0"), 400),
    "two hosts": (get(b"Host: b"), 400),
    "two equal hosts": (get(b"HOST: a"), 400),
    "empty host": (head(b"GET / HTTP/1.1", b"Host:"), 400),
    "space in the host": (head(b"GET / HTTP/1.1", b"Host: a b"), 400),
    "slash in the host": (head(b"GET / HTTP/1.1", b"Host: a/b"), 400),
    "user in the host": (head(b"GET / HTTP/1.1", b"Host: u@a"), 400),
    "URL as host": (head(b"GET / HTTP/1.1", b"Host: http://a"), 400),
    "list of hosts": (head(b"GET / HTTP/1.1", b"Host: a, b"), 400),
    "port that is no number": (head(b"GET / HTTP/1.1", b"Host: a:b"), 400),
    "port of six digits": (head(b"GET / HTTP/1.1", b"Host: a:999999"), 400),
    "open bracket in the host": (head(b"GET / HTTP/1.1", b"Host: [::1"), 400),
    "non-ASCII host": (head(b"GET / HTTP/1.1", "Host: ä".encode()), 400),
    "host of 256 letters": (head(b"GET / HTTP/1.1", b"Host: " + b"a" * 256), 400),
    "two credentials": (get(b"Authorization: a", b"Authorization: b"), 400),
    "two content types": (get(b"Content-Type: a", b"Content-Type: b"), 400),
    "another expectation": (post(b"Expect: 200-ok", b"Content-Length: 1"), 417),
    "list of expectations": (post(b"Expect: 100-continue, x", b"Content-Length: 1"), 417),
    "101 headers": (get(*(b"X-%d: a" % at for at in range(100))), 431),
    "101 headers of one name": (get(*[b"X: a"] * 100), 431),
    "head of 33 KB": (get(b"X: " + b"a" * 33 * 1_024), 431),
    "head without end": (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 6_000, 431),
}

CHUNKS: dict[str, tuple[bytes, int]] = {
    "no size": (chunked(b"\r\n\r\n"), 400),
    "size that is no number": (chunked(b"g\r\n"), 400),
    "size with a prefix": (chunked(b"0x1\r\na\r\n0\r\n\r\n"), 400),
    "size with a plus": (chunked(b"+1\r\na\r\n0\r\n\r\n"), 400),
    "size with a minus": (chunked(b"-1\r\na\r\n0\r\n\r\n"), 400),
    "size with an underscore": (chunked(b"1_0\r\na\r\n0\r\n\r\n"), 400),
    "space before the size": (chunked(b" 1\r\na\r\n0\r\n\r\n"), 400),
    "space after the size": (chunked(b"1 \r\na\r\n0\r\n\r\n"), 400),
    "size of nine digits": (chunked(b"000000001\r\na\r\n0\r\n\r\n"), 400),
    "size of 64 bits": (chunked(b"ffffffffffffffff\r\na\r\n0\r\n\r\n"), 400),
    "digits of another script in a size": (chunked(b"\xd9\xa1\r\na\r\n0\r\n\r\n"), 400),
    "LF ends the size": (chunked(b"1\na\r\n0\r\n\r\n"), 400),
    "CR ends the size": (chunked(b"1\ra\r\n0\r\n\r\n"), 400),
    "LF ends the data": (chunked(b"1\r\na\n0\r\n\r\n"), 400),
    "data longer than its size": (chunked(b"1\r\nab\r\n0\r\n\r\n"), 400),
    "data shorter than its size": (chunked(b"3\r\na\r\n0\r\n\r\n"), 400),
    "NUL in an extension": (chunked(b"1;\x00\r\na\r\n0\r\n\r\n"), 400),
    "LF in an extension": (chunked(b"1;a\nb\r\na\r\n0\r\n\r\n"), 400),
    "CR in an extension": (chunked(b"1;a\rb\r\na\r\n0\r\n\r\n"), 400),
    "extension of 300 bytes": (chunked(b"1;" + b"x" * 300 + b"\r\na\r\n0\r\n\r\n"), 400),
    "size line without end": (chunked(b"1;" + b"x" * 300), 400),
    "trailer without a colon": (chunked(b"0\r\nx\r\n\r\n"), 400),
    "trailer with an underscore": (chunked(b"0\r\na_b: c\r\n\r\n"), 400),
    "folded trailer": (chunked(b"0\r\na: b\r\n c\r\n\r\n"), 400),
    "NUL in a trailer": (chunked(b"0\r\na: \x00\r\n\r\n"), 400),
    "LF ends a trailer": (chunked(b"0\r\na: b\nc: d\r\n\r\n"), 400),
    "request in place of trailers": (chunked(b"0\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n"), 400),
    "trailers of 9 KB": (chunked(b"0\r\n" + b"a: b\r\n" * 2_100 + b"\r\n"), 400),
    "chunk over the limit": (chunked(b"%x\r\n" % (BODY_LIMIT + 1) + b"a" * (BODY_LIMIT + 1)), 413),
}

MUST_REFUSE = {**REQUEST_LINES, **FRAMING, **HEADERS, **CHUNKS}
