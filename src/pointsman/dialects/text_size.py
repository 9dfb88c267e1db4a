"""How much text a request body holds: what token estimates start from. Never looks at a token (pure).

Called only for groups whose strategy compares prices, and to count tokens: it reads the whole body once more.
"""

import re

from msgspec import structs

from pointsman.domain.request import RequestFacts, Script

MAX_COUNTED_BYTES = 1 << 20  # in a longer body a byte counts as a character
_TAIL_BYTES = 4096  # the newest message: it says whether the client escapes what is not ASCII
_ESCAPE_BYTES = 6  # \u4f60 stands for one character
# images and files within the body: data URLs, and the strings that Anthropic's dialect has for them
_MEDIA = re.compile(rb';base64,[^"]*|"data" ?: ?"[A-Za-z0-9+/=]{256,}')


def with_text_size(facts: RequestFacts, body: bytes) -> RequestFacts:
    """The facts of a request, and how many characters of which script it has."""
    chars, script = text_size(body)
    return structs.replace(facts, text_chars=chars, script=script)


def text_size(body: bytes) -> tuple[int, Script]:
    """Characters of a JSON body but those of media in it, and the kind of script that most of them are."""
    media_bytes = _media_bytes(body)
    text_bytes = len(body) - media_bytes
    if len(body) > MAX_COUNTED_BYTES:
        return text_bytes, Script.LATIN
    chars = _decoded_chars(body) - media_bytes
    return chars, Script.CJK if text_bytes > 2 * chars else Script.LATIN  # 3 bytes and more each, or escaped


def _decoded_chars(body: bytes) -> int:
    if not body.isascii():
        return len(body.decode())
    tail = body[-_TAIL_BYTES:]
    escapes = tail.count(b"\\u") * len(body) / len(tail)
    return len(body) - round(escapes * (_ESCAPE_BYTES - 1))


def _media_bytes(body: bytes) -> int:
    """Media end with the JSON string that they are in."""
    return sum(media.end() - media.start() for media in _MEDIA.finditer(body))
