"""Shape of an answer with embeddings, read as far as routing needs it (pure)."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import NULL


class _Answer(Struct, gc=False):
    data: list[Raw] | None = None  # vectors: numbers, or base64 of them
    usage: Raw = NULL
    error: Raw = NULL


read_answer = Decoder(_Answer).decode  # raises one of UNREADABLE
