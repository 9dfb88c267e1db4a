"""The head of a connection's last request, as a template for the next one (pure).

A client sends the same head again and again, but for the length of the body: what was checked byte by byte need not be
checked again when the bytes are the same.
"""

import re

from pointsman.domain.value import Leaf
from pointsman.http1.head import MAX_HEAD_BYTES, RequestHead

_LENGTH_VALUE = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n")
_MAX_DIGITS = 15  # as in the grammar of heads
_ZERO = ord("0")


class HeadTemplate(Leaf):
    """A sound head, cut where the value of its Content-Length stands."""

    head: RequestHead
    before: bytes
    after: bytes

    def fit(self, data: bytes) -> tuple[RequestHead, int] | None:
        """The head that `data` begins with, and where it ends, if it differs from the template in the length alone."""
        before = self.before
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(b"\r", start, start + _MAX_DIGITS + 1)
        if end < start:
            return None
        digits, after = data[start:end], self.after
        if not digits.isdigit() or (digits[0] == _ZERO and end > start + 1):
            return None
        if not data.startswith(after, end):
            return None
        old = self.head
        head = RequestHead(
            old.method, old.path, old.query, old.headers, int(digits), False, old.keep_alive, old.expects_continue,
            old.is_http_1_0,
        )  # fmt: skip
        return head, end + len(after)


def template_of(raw: bytes, head: RequestHead) -> HeadTemplate | None:
    """A template, unless the head announces no length in the usual way."""
    length = _LENGTH_VALUE.search(raw.lower())
    if length is None or head.is_chunked or len(raw) + _MAX_DIGITS > MAX_HEAD_BYTES:
        return None
    return HeadTemplate(head, raw[: length.start(1)], raw[length.end(1) :])
