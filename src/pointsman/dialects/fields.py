"""Reading single fields of a request or an answer, whose values are JSON that nothing has looked into yet (pure)."""

from collections.abc import Container, Mapping
from typing import TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.top_level import TopLevel, read_top_level
from pointsman.domain.errors import ErrorKind, GatewayError

T = TypeVar("T")

_NOTHING = frozenset((b"null", b'""', b"[]", b"{}"))

ONLY_TYPE = frozenset(("type",))  # what parts of an answer have that say nothing

_MODEL = Decoder(str | None)
_decode_fields = Decoder(dict[str, Raw]).decode
_decode_anything = Decoder(Raw).decode


def strict(values: Mapping[str, Raw], name: str, decoder: Decoder[T]) -> T | None:
    """A field that steers the gateway itself: a wrong type is the caller's to mend."""
    try:
        return decoder.decode(values[name])
    except msgspec.ValidationError as error:
        raise GatewayError(ErrorKind.BAD_REQUEST, f"The field '{name}' is wrong: {error}.", param=name) from None


def soft(values: Mapping[str, Raw], name: str, decoder: Decoder[T]) -> T | None:
    """A field that only informs: a wrong type is for the provider to refuse."""
    try:
        return decoder.decode(values[name])
    except msgspec.ValidationError:
        return None


def read_fields(body: bytes, edited: frozenset[str]) -> tuple[TopLevel, str]:
    """The fields of a request, and the model that it names. `edited`: those that the gateway reads or writes itself.

    Raises GatewayError (400).
    """
    top = read_top_level(body)
    values = top.values
    if not top.has_plain_names and not edited.isdisjoint(map(str.casefold, values.keys() - edited)):
        raise _misspelt(values, edited)
    model = strict(values, "model", _MODEL) if "model" in values else None
    if not model:
        raise GatewayError(ErrorKind.BAD_REQUEST, "Name a model in the field 'model'.", param="model")
    return top, model


def _misspelt(values: Mapping[str, Raw], edited: frozenset[str]) -> GatewayError:
    """A provider that ignores case would read another request than the one that was authorised."""
    # not lower(): Go takes a long s for an s
    name = next(name for name in values if name not in edited and name.casefold() in edited)
    return GatewayError(ErrorKind.BAD_REQUEST, f"Write the field '{name}' in lower case.", param=name)


def says_something(value: Raw) -> bool:
    """Whether a value is more than a place for one."""
    return bytes(value) not in _NOTHING


def says_beside(names: Container[str], said: Raw) -> bool:
    """Whether an object has anything beside the fields of these names: text, tools and whatever comes next."""
    try:
        fields = _decode_fields(said)
    except msgspec.DecodeError:
        return False
    return any(field not in names and says_something(value) for field, value in fields.items())


def is_json(data: bytes) -> bool:
    """Whether `data` is sound to its end: a decoder that meets a wrong type stops there and reads no further."""
    try:
        _decode_anything(data)
    except UNREADABLE:
        return False
    return True
