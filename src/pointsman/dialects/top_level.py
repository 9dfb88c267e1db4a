"""Where the top-level fields of a JSON object lie in its bytes, proven, so that edits can be spliced in (pure).

One decode finds the values; one walk over the keys finds their places and every repeated key. Values are never
looked into, so the cost follows the number of top-level keys and one pass over the bytes.
"""

import re
from collections.abc import Mapping

import msgspec
from msgspec import Raw

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.value import Leaf

Span = tuple[int, int]
Edit = tuple[int, int, bytes]  # start, end, replacement

_KEY = rb'[ \t\r\n]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t\r\n]*:[ \t\r\n]*'
_FIRST_KEY = re.compile(rb"[ \t\r\n]*\{" + _KEY)
_NEXT_KEY = re.compile(rb"[ \t\r\n]*," + _KEY)
_END = re.compile(rb"[ \t\r\n]*\}")
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_TEXT = msgspec.json.Decoder(str)
MAX_FIELDS = 256  # four times as many as the dialect with the most of them
# An object is made for each field and each list item that is looked at. In up to 1 MiB that takes 30 ms at most.
_NARROW_BYTES = 1 << 20
MAX_ITEMS = 200_000  # in a longer body; an agent's session of 10 MB has a tenth of it
# A run of numbers counts once: inputs of embeddings are long lists of them, and nobody looks at those.
_WIDE = re.compile(
    rb'(?:(?:[^",]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+,[-+0-9.eE, \t\r\n]*+){%d}+' % (MAX_ITEMS + 1), re.DOTALL
)
_CHEAP_COPY_BYTES = 16 * 1024  # up to here a copy costs less than a view that saves it


class TopLevel(Leaf):
    """The fields of an object, each there once."""

    body: bytes
    values: Mapping[str, Raw]
    spans: Mapping[str, Span] | None  # None: compact, so that they can be counted
    has_plain_names: bool  # all of them in lower-case ASCII: none is another one, written differently

    def span(self, name: str) -> Span:
        """Where the value of a field lies in the body. Raises KeyError when there is no such field."""
        return self._compact_span(name) if self.spans is None else self.spans[name]

    def _compact_span(self, name: str) -> Span:
        """Counted, not searched for: fields come in the order of the text, with nothing between them."""
        start = 1
        for field, raw in self.values.items():
            start += len(field) + 3
            end = start + memoryview(raw).nbytes
            if field == name:
                return start, end
            start = end + 1
        raise KeyError(name)


def read_top_level(body: bytes) -> TopLevel:
    """Raises GatewayError (400) for anything but one UTF-8 JSON object without repeated top-level keys."""
    try:
        if not body.isascii():
            body.decode()
        if len(body) > _NARROW_BYTES and body.count(b",") > MAX_ITEMS and _WIDE.match(body) is not None:
            raise _bad(f"The request body has more than {MAX_ITEMS} fields and list items.")
        values = _OBJECT.decode(body)
    except msgspec.ValidationError:
        raise _bad("The request body must be a JSON object.") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise _bad(f"The request body is not valid JSON: {error}.") from None
    except UnicodeDecodeError as error:
        raise _bad(f"The request body is not UTF-8 (byte {error.start}).") from None
    if len(values) > MAX_FIELDS:
        raise _bad(f"The request body has more than {MAX_FIELDS} fields.")
    names = "".join(values)
    # Compact, as the SDKs write it: the fields and their punctuation are exactly the body. It proves that nothing else
    # is in there, no white space, no escape in a name and no second field of a name: each would make it longer.
    punctuation = 4 * len(values) + 1  # {} and, per field, two quotes, a colon and a comma, less one comma
    is_compact = punctuation + len(names) + sum(map(len, values.values())) == len(body)
    spans = None if is_compact else _spans(body, values)
    return TopLevel(body, values, spans, names.isascii() and names == names.lower())


def _spans(body: bytes, values: Mapping[str, Raw]) -> dict[str, Span]:
    spans: dict[str, Span] = {}
    end = 0
    key = _FIRST_KEY.match(body)
    while key is not None:
        literal, start = key.group(1), key.end()
        name = _TEXT.decode(b'"%b"' % literal) if b"\\" in literal else literal.decode()
        raw = values.get(name)
        # the decoder keeps the last of two equal keys: only a key that is there once has its value at its place
        if raw is None or name in spans or not body.startswith(value := bytes(raw), start):
            raise _bad(f"The field '{name}' is given more than once.", param=name)
        end = start + len(value)
        spans[name] = (start, end)
        key = _NEXT_KEY.match(body, end)
    if values and _END.match(body, end) is None:  # within a number: its name comes again, with the number's beginning
        raise _bad("The request body has a field that is given more than once.")
    return spans


def splice(body: bytes, edits: list[Edit]) -> bytes:
    """`body` with each span replaced; every other byte is as it was. Edits must not overlap."""
    rest: bytes | memoryview = body if len(body) < _CHEAP_COPY_BYTES else memoryview(body)
    at = 0
    pieces: list[bytes | memoryview] = []
    for start, end, replacement in edits if len(edits) < 2 else sorted(edits):
        pieces += (rest[at:start], replacement)
        at = end
    return b"".join((*pieces, rest[at:]))


def _bad(message: str, param: str | None = None) -> GatewayError:
    return GatewayError(ErrorKind.BAD_REQUEST, message, param=param)
