"""The head of a connection's last request, as a template for the next one (pure).

A client sends the same head again and again, but for the length of the body: what was checked byte by byte need not be
checked again when the bytes are the same.
"""

import re

from msgspec import Struct

from pointsman.http1.head import RequestHead, parse_request_head
from pointsman.http1.header_block import HeaderBlock

_LENGTH_VALUE = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n")
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,14}")


class HeadTemplate(Struct, frozen=True, gc=False):
    """A sound head, cut where the value of its Content-Length stands."""

    head: RequestHead
    before: bytes
    after: bytes

    def fit(self, raw: bytes) -> RequestHead | None:
        """The head in `raw` if it differs from the template in the length alone; None: it has to be parsed."""
        before, after = self.before, self.after
        if not raw.startswith(before) or not raw.endswith(after):
            return None
        length = raw[len(before) : len(raw) - len(after)]
        if _LENGTH.fullmatch(length) is None:
            return None
        old = self.head
        headers = HeaderBlock(raw[old.line_bytes - 2 : -2])
        return RequestHead(
            old.method, old.path, old.query, headers, int(length), False, old.keep_alive, old.expects_continue,
            old.is_http_1_0, old.line_bytes,
        )  # fmt: skip


def template_of(raw: bytes, head: RequestHead) -> HeadTemplate | None:
    """A template, unless the head announces no length in the usual way."""
    length = _LENGTH_VALUE.search(head.headers.lowered)
    if length is None or head.is_chunked:
        return None
    start = head.line_bytes - 2  # of the header block in the head
    return HeadTemplate(head, raw[: start + length.start(1)], raw[start + length.end(1) :])


def read_head(raw: bytes, template: HeadTemplate | None) -> tuple[RequestHead, HeadTemplate | None]:
    """The head in `raw` and the template for the next one. Raises GatewayError as `parse_request_head` does."""
    if template is not None and (head := template.fit(raw)) is not None:
        return head, template
    head = parse_request_head(raw)
    return head, template_of(raw, head)
