"""In which dialect a caller is answered before, or without, a request of any dialect: errors, lists of models."""

from pointsman.dialects.codec import Codec
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect
from pointsman.http1.head import RequestHead

_CODECS = tuple(DIALECTS.values())
_USUAL = DIALECTS[Dialect.OPENAI_CHAT]
_BY_HEADER = DIALECTS[Dialect.ANTHROPIC_MESSAGES]
_HEADER = b"anthropic-version"  # every client of Anthropic sends it, whatever it asks for


def codec_for(head: RequestHead | None) -> Codec:
    """The dialect of the path, else the one that the headers show, else OpenAI's."""
    if head is None:
        return _USUAL
    named = next((codec for codec in _CODECS if codec.path in head.path), None)
    return named or (_BY_HEADER if speaks_anthropic(head) else _USUAL)


def speaks_anthropic(head: RequestHead) -> bool:
    """Whether the headers are those of one of Anthropic's clients."""
    return _HEADER in head.headers
