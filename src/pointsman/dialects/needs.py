"""What a request needs of a target, from its fields. Looked for only where a target may lack it (pure)."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.fields import soft
from pointsman.domain.capability import Capability

_NOTHING = frozenset((b"null", b"[]", b"{}"))
_FREE_CHOICES = frozenset(("", "auto", "none"))


class _Typed(Struct, gc=False):
    type: str = ""
    mode: str = ""  # of a choice among some of the tools: whether one of them must be called


class _Tool(Struct, gc=False):
    """Counted only: what it looks like is for the provider to judge."""


TOOLS = Decoder(list[_Tool])
_TYPED = Decoder(_Typed)
_CHOICE = Decoder(str | _Typed)
_FLAG = Decoder(bool)


def type_pattern(*types: bytes) -> re.Pattern[bytes]:
    """Finds an object of one of these types in JSON bytes: in a string its quotes would be escaped."""
    return re.compile(rb'"type"[ \t\r\n]*:[ \t\r\n]*"(?:%b)"' % b"|".join(types))


def is_given(values: Mapping[str, Raw], name: str) -> bool:
    """Whether a field is there, and is not empty."""
    return name in values and bytes(values[name]) not in _NOTHING


def type_of(values: Mapping[str, Raw], name: str) -> str:
    """The type of an object, or the text that stands in its place; empty: neither."""
    found = soft(values, name, _CHOICE) if name in values else None
    return found.type if isinstance(found, _Typed) else found or ""


def is_true(values: Mapping[str, Raw], name: str) -> bool:
    return name in values and soft(values, name, _FLAG) is True


def common(
    parsed: ParsedRequest, media: Mapping[Capability, re.Pattern[bytes]], said_in: str = "messages"
) -> Iterator[Capability]:
    """What the facts say already, and what is in the messages, which are in the field `said_in`."""
    facts = parsed.facts
    if facts.reasoning:
        yield Capability.REASONING
    if (facts.max_output_tokens or 0) > 0:
        yield Capability.HONORS_MAX_TOKENS
    messages = memoryview(parsed.fields[said_in]) if said_in in parsed.fields else b""
    for capability, pattern in media.items():
        if pattern.search(messages):
            yield capability


def of_tools(parsed: ParsedRequest) -> Iterator[Capability]:
    """What the dialects of OpenAI say about tools alike."""
    values = parsed.fields
    if parsed.facts.tool_count:
        yield Capability.TOOLS
    choice = soft(values, "tool_choice", _CHOICE) if "tool_choice" in values else None
    if (choice.mode or choice.type if isinstance(choice, _Typed) else choice or "") not in _FREE_CHOICES:
        yield Capability.FORCED_TOOLS
    if is_true(values, "parallel_tool_calls"):
        yield Capability.PARALLEL_TOOLS


def in_order(found: Iterator[Capability]) -> tuple[Capability, ...]:
    """Each once, in the order of the enumeration: equal needs are equal values."""
    needed = set(found)
    return tuple(capability for capability in Capability if capability in needed)
