"""Reading a request for a bridge: its fields, and which of them have no neutral form (pure)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects.bridges.neutral import Call, File, Image, Part, Result, Role, Text, Turn
from pointsman.dialects.fields import strict
from pointsman.dialects.provider_error import is_given
from pointsman.domain.value import Value

T = TypeVar("T")
Fields = Mapping[str, Raw]

NUMBER = Decoder(float)
INTEGER = Decoder(int)
TEXT = Decoder(str)
FLAG = Decoder(bool)
_TEXTS = Decoder(str | list[str])
_SAID_BY: Mapping[Role, tuple[type[Part], ...]] = MappingProxyType(
    {Role.SYSTEM: (Text,), Role.USER: (Text, Image, File, Result), Role.ASSISTANT: (Text, Call)}
)
_NOTHING = frozenset((b"null", b"[]", b"{}"))


class Known(Value):
    """What a bridge knows of the fields of a dialect."""

    carried: frozenset[str]
    hints: frozenset[str]  # about who asks, billing and caches: an answer means the same without them
    usual: Mapping[str, frozenset[bytes]]  # values that say what holds anyway

    def lost(self, values: Fields) -> Iterator[str]:
        """The fields that would make another answer, and that nobody here can carry."""
        for name, raw in values.items():
            if name in self.carried or name in self.hints:
                continue
            value = bytes(raw)
            if value not in _NOTHING and value not in self.usual.get(name, ()):
                yield name


def given(values: Fields, name: str, decoder: Decoder[T]) -> T | None:
    """A field; None: it is not there, or null. Raises GatewayError (400) when its type is wrong."""
    return None if name not in values or bytes(values[name]) == b"null" else strict(values, name, decoder)


def unless_null(raw: Raw) -> Raw | None:
    """A part of a request that goes on as it was written."""
    return raw if is_given(raw) else None


def texts(values: Fields, name: str) -> tuple[str, ...]:
    """A field with a list of texts, or with one text that stands for a list of it."""
    found = given(values, name, _TEXTS)
    return (found,) if isinstance(found, str) else tuple(found or ())


def merged(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Without turns that say nothing, and with those of one role that follow each other as one (G-08, G-13)."""
    found: list[Turn] = []
    for each in turns:
        parts = tuple(part for part in each.parts if not isinstance(part, Text) or part.text.strip())
        if not parts:
            continue
        if found and found[-1].role is each.role:
            parts = found.pop().parts + parts
        found.append(Turn(each.role, parts))
    return tuple(found)


def turn(role: Role, parts: Iterable[Part], lost: list[str]) -> Turn:
    """What one role may say; the rest is lost."""
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, _SAID_BY[role]):
            kept.append(part)
        else:
            lost.append(f"messages.{role}.{type(part).__name__.lower()}")
    return Turn(role, tuple(kept))


def leading_system(turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The system turns at the beginning, and all that follows (G-16)."""
    count = next((at for at, each in enumerate(turns) if each.role is not Role.SYSTEM), len(turns))
    return turns[:count], turns[count:]
