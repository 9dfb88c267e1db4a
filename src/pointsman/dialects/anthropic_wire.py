"""Shapes of Anthropic's dialect: answers, events and their usage (pure)."""

from typing import Annotated

from msgspec import Meta, Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.charge import charged_usd
from pointsman.dialects.fields import ONLY_TYPE, says_beside
from pointsman.dialects.provider_error import NULL, UNREADABLE
from pointsman.domain.outcome import Usage

NATURAL_END = "end_turn"
# blocks that are there before anything is said in them; one of any other type says something by being there
_REASONING = frozenset(("thinking", "redacted_thinking", "thinking_delta", "signature_delta"))
_MAY_BE_EMPTY = frozenset(("text", "thinking"))

Count = Annotated[int, Meta(ge=0, lt=2**53)]  # anything else is no count of tokens


class _CacheCreation(Struct, gc=False):
    ephemeral_1h_input_tokens: Count | None = None


class _OutputDetails(Struct, gc=False):
    thinking_tokens: Count | None = None


class TokenCounts(Struct, gc=False):
    """`usage` as it comes: input, cache reads and cache writes are apart from each other."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_creation: _CacheCreation | None = None
    output_tokens_details: _OutputDetails | None = None
    cost: Raw = NULL
    is_byok: Raw = NULL
    cost_details: Raw = NULL


class Message(Struct, gc=False):
    """A whole answer, or the `message` of a stream's first event, read as far as routing needs it."""

    content: list[Raw] | None = None
    stop_reason: str | None = None
    usage: Raw = NULL
    error: Raw = NULL


class Event(Struct, gc=False):
    """One event of a stream."""

    type: str = ""
    message: Raw = NULL
    content_block: Raw = NULL
    delta: Raw = NULL
    usage: Raw = NULL
    error: Raw = NULL


class _Block(Struct, gc=False):
    type: str = ""


class _Delta(Struct, gc=False):
    stop_reason: str | None = None


# each raises one of UNREADABLE; ValidationError among them means sound JSON of another shape
read_message = Decoder(Message).decode
read_event = Decoder(Event).decode
_decode_counts = Decoder(TokenCounts).decode
_decode_block = Decoder(_Block).decode
_decode_delta = Decoder(_Delta).decode


def usage_of_start(message: Raw) -> Usage | None:
    """The usage that a stream begins with."""
    try:
        return usage(read_message(message).usage)
    except UNREADABLE:
        return None


def usage(raw: Raw) -> Usage | None:
    """Tokens as reported, in the words of all dialects; None when the provider did not say, or nothing to trust."""
    try:
        counts = _decode_counts(raw)
    except UNREADABLE:
        return None
    reads, writes = counts.cache_read_input_tokens, counts.cache_creation_input_tokens
    details, kept = counts.output_tokens_details, counts.cache_creation
    return Usage(
        _total(counts.input_tokens, reads, writes),
        counts.output_tokens,
        reads,
        details.thinking_tokens if details else None,
        writes,
        kept.ephemeral_1h_input_tokens if kept else None,
        charged_usd(counts.cost, counts.is_byok, counts.cost_details),
    )


def usage_after(earlier: Usage, later: Usage) -> Usage:
    """What holds after a further report: its counts replace those before, and what it leaves out still holds (H-03)."""
    reads = _either(later.cached_tokens, earlier.cached_tokens)
    writes = _either(later.cache_write_tokens, earlier.cache_write_tokens)
    return Usage(
        _total(_either(_uncached(later), _uncached(earlier)), reads, writes),
        _either(later.output_tokens, earlier.output_tokens),
        reads,
        _either(later.reasoning_tokens, earlier.reasoning_tokens),
        writes,
        _either(later.cache_write_1h_tokens, earlier.cache_write_1h_tokens),
        earlier.charged_usd if later.charged_usd is None else later.charged_usd,
    )


def _total(uncached: int | None, reads: int | None, writes: int | None) -> int | None:
    return None if uncached is None else uncached + (reads or 0) + (writes or 0)


def _uncached(said: Usage) -> int | None:
    if said.input_tokens is None:
        return None
    return said.input_tokens - (said.cached_tokens or 0) - (said.cache_write_tokens or 0)


def _either(later: int | None, earlier: int | None) -> int | None:
    return earlier if later is None else later


def stop_reason(delta: Raw) -> str | None:
    """Why the answer ends, in the words of the provider."""
    try:
        return _decode_delta(delta).stop_reason
    except UNREADABLE:
        return None


def block_says_something(block: Raw) -> bool:
    """Whether a block has content: text, a tool, reasoning and whatever comes next."""
    type_ = _type_of(block)
    return says_beside(ONLY_TYPE, block) if type_ in _MAY_BE_EMPTY else bool(type_)


def is_reasoning(part: Raw) -> bool:
    """Whether a block, or what is added to one, is reasoning."""
    return _type_of(part) in _REASONING


def _type_of(part: Raw) -> str:
    try:
        return _decode_block(part).type
    except UNREADABLE:
        return ""


def says_nothing(message: Message) -> bool:
    """An answer that the provider itself calls empty (B-16): ended at once, no token, no content."""
    said = usage(message.usage)
    if said is None or said.output_tokens != 0 or message.stop_reason != NATURAL_END:
        return False
    return not any(map(block_says_something, message.content or ()))
