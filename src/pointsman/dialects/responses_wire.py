"""Shapes of OpenAI's Responses: answers, events and their usage, and fields of requests (pure)."""

from typing import Annotated

from msgspec import Meta, Raw, Struct, structs
from msgspec.json import Decoder

from pointsman.dialects.charge import charged_usd
from pointsman.dialects.fields import ONLY_TYPE, says_beside
from pointsman.dialects.kept_state import keys
from pointsman.dialects.provider_error import NULL, UNREADABLE, error_of, is_given
from pointsman.domain.outcome import ProviderError, Usage

NATURAL_END = "completed"
FAILED = "failed"
# in the background: the answer is a receipt, and is fetched later
_PENDING = frozenset(("queued", "in_progress"))

Count = Annotated[int, Meta(ge=0, lt=2**53)]  # anything else is no count of tokens


class _InputDetails(Struct, gc=False):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _OutputDetails(Struct, gc=False):
    reasoning_tokens: Count | None = None


class TokenCounts(Struct, gc=False):
    """`usage` as it comes."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None
    cost: Raw = NULL
    is_byok: Raw = NULL
    cost_details: Raw = NULL


class _Incomplete(Struct, gc=False):
    reason: str | None = None


class Response(Struct, gc=False):
    """A whole answer, or the `response` of an event, read as far as routing needs it."""

    id: Raw = NULL
    conversation: Raw = NULL
    store: Raw = NULL
    background: Raw = NULL
    status: str | None = None
    output: list[Raw] | None = None
    usage: Raw = NULL
    error: Raw = NULL
    incomplete_details: Raw = NULL


class Event(Struct, gc=False):
    """One event of a stream."""

    type: str = ""
    delta: Raw = NULL
    item: Raw = NULL
    part: Raw = NULL
    response: Raw = NULL
    error: Raw = NULL


class _Item(Struct, gc=False):
    type: str = ""
    content: list[Raw] | None = None
    summary: list[Raw] | None = None


class _Reasoning(Struct, gc=False):
    effort: str | None = None
    summary: str | None = None


class _Format(Struct, gc=False):
    type: str | None = None


class _Text(Struct, gc=False):
    format: _Format | None = None


# each raises one of UNREADABLE; ValidationError among them means sound JSON of another shape
read_response = Decoder(Response).decode
read_event = Decoder(Event).decode
_decode_fields = Decoder(dict[str, Raw]).decode
_decode_counts = Decoder(TokenCounts).decode
_decode_item = Decoder(_Item).decode
_decode_incomplete = Decoder(_Incomplete).decode
REASONING = Decoder(_Reasoning)
TEXT = Decoder(_Text)


def response_in(event: bytes) -> dict[str, Raw]:
    """The fields of the response that an event is about."""
    try:
        return _decode_fields(_decode_fields(event).get("response", b"{}"))
    except UNREADABLE:
        return {}


def usage(raw: Raw) -> Usage | None:
    """Tokens as reported; None when the provider did not say, or nothing to trust."""
    try:
        counts = _decode_counts(raw)
    except UNREADABLE:
        return None
    given, made = counts.input_tokens_details, counts.output_tokens_details
    return Usage(
        counts.input_tokens,
        counts.output_tokens,
        given.cached_tokens if given else None,
        made.reasoning_tokens if made else None,
        given.cache_write_tokens if given else None,
        charged_usd=charged_usd(counts.cost, counts.is_byok, counts.cost_details),
    )


def error_in(response: Response) -> ProviderError | None:
    """An error inside a success: given as such, or a failure that nothing is said about (D-07)."""
    if is_given(response.error):
        return error_of(response.error)
    return ProviderError("The provider reports that the answer failed.") if response.status == FAILED else None


def error_of_event(data: bytes) -> ProviderError:
    """The error of an event that is one: its fields are the event's own, and its type only says so."""
    return structs.replace(error_of(Raw(data)), type=None)


def finish_reason(response: Response) -> str | None:
    """Why the answer ends, in the words of the provider; None: it tells neither output nor usage, so no end either."""
    if not response.output and not is_given(response.usage):
        return None
    try:
        return _decode_incomplete(response.incomplete_details).reason or response.status
    except UNREADABLE:
        return response.status


def is_empty(response: Response) -> bool:
    """No output and no sign that there will be any, or an answer that the provider itself calls empty (B-16)."""
    if response.status in _PENDING:
        return False
    if response.output is None or response.status is None:
        return not response.output
    said = usage(response.usage)
    if said is None or said.output_tokens != 0 or response.status != NATURAL_END:
        return False
    return not any(map(item_says_something, response.output))


def kept(response: Response, raw: bytes) -> tuple[str, ...]:
    """Keys of what the provider keeps of it; `raw` is the JSON that it came in."""
    is_stored = bytes(response.store) != b"false"
    return keys(response.id if is_stored else NULL, response.conversation, raw)


def kept_from_the_start(event: Event, data: bytes) -> tuple[str, ...]:
    """The same of a response that goes on in the background, whatever becomes of its stream."""
    try:
        response = read_response(event.response)
    except UNREADABLE:
        return ()
    return kept(response, data) if bytes(response.background) == b"true" else ()


def is_reasoning(event: Event) -> bool:
    """Whether the content of an event is reasoning."""
    if event.item is NULL:
        return event.type.startswith("response.reasoning")
    try:
        return _decode_item(event.item).type == "reasoning"
    except UNREADABLE:
        return False


def item_says_something(raw: Raw) -> bool:
    """Whether an item of the output has content: text, a tool, reasoning and whatever comes next."""
    try:
        item = _decode_item(raw)
    except UNREADABLE:
        return False
    match item.type:
        case "message":
            return any(says_beside(ONLY_TYPE, part) for part in item.content or ())
        case "reasoning":  # its encrypted form is there from the start
            return bool(item.content or item.summary)
        case type_:
            return bool(type_)
