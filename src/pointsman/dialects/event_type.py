"""The `type` that a dialect with named events repeats in the data of each (pure)."""

from msgspec import Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import UNREADABLE


class _Typed(Struct):
    type: str = ""


_decode_typed = Decoder(_Typed).decode


def type_in(data: bytes) -> str:
    """Empty when there is none, or none that can be read."""
    try:
        return _decode_typed(data).type
    except UNREADABLE:
        return ""
