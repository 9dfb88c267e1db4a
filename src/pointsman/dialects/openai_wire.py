"""Shapes that the OpenAI dialects share: choices, usage, and the many forms of an error (pure)."""

import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.json import Decoder

from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import ProviderError, Usage

NULL = Raw(b"null")
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_NOTHING = frozenset((b"null", b'""', b"[]", b"{}"))
# llama.cpp says it by the type alone, and its code is the status; agents compact when they see the code (B-08)
_CODE_BY_TYPE = {"exceed_context_size_error": "context_length_exceeded"}
_MAX_MESSAGE_CHARS = 1_000  # enough for any explanation; a page of HTML is not one
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Choice(Struct, gc=False):
    """One choice of an answer, or of one event."""

    delta: Raw = NULL
    message: Raw = NULL
    finish_reason: str | None = None
    error: Raw = NULL


Count = Annotated[int, Meta(ge=0, lt=2**53)]  # anything else is no count of tokens


class _TokenDetails(Struct, gc=False):
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cache_write_tokens: Count | None = None  # where writing has a rate of its own: newer OpenAI models, OpenRouter


class TokenCounts(Struct, gc=False):
    """`usage` as it comes."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: _TokenDetails | None = None
    completion_tokens_details: _TokenDetails | None = None


class Payload(Struct, gc=False):
    """A whole answer, or one event of a stream, read as far as routing needs it."""

    choices: list[Choice] | None = None
    usage: TokenCounts | None = None
    error: Raw = NULL


class _UncountedPayload(Struct):
    """The same without its usage, for one that cannot be trusted."""

    choices: list[Choice] | None = None
    error: Raw = NULL


class _Fault(Struct):
    """Any types: one odd field must not cost the others, the code least of all."""

    message: Any = None
    type: Any = None
    code: Any = None  # llama.cpp and others send the status here
    param: Any = None


class _FaultShape(_Fault):
    error: Raw = NULL
    detail: Any = None  # FastAPI's shape


_decode_payload = Decoder(Payload).decode
_decode_uncounted = Decoder(_UncountedPayload).decode
_decode_fields = Decoder(dict[str, Raw]).decode
_decode_anything = Decoder(Raw).decode
_decode_fault = Decoder(_Fault | str).decode
_decode_fault_shape = Decoder(_FaultShape).decode


def read_payload(data: bytes) -> Payload:
    """Raises one of UNREADABLE; ValidationError among them means sound JSON of another shape."""
    try:
        return _decode_payload(data)
    except msgspec.ValidationError:
        read = _decode_uncounted(data)
        return Payload(choices=read.choices, error=read.error)


def is_json(data: bytes) -> bool:
    """Whether `data` is sound to its end: a decoder that meets a wrong type stops there and reads no further."""
    try:
        _decode_anything(data)
    except UNREADABLE:
        return False
    return True


def usage(counts: TokenCounts | None) -> Usage | None:
    """Tokens as reported; None when the provider did not say, or nothing that can be trusted."""
    if counts is None:
        return None
    prompt, completion = counts.prompt_tokens_details, counts.completion_tokens_details
    return Usage(
        counts.prompt_tokens,
        counts.completion_tokens,
        prompt.cached_tokens if prompt else None,
        completion.reasoning_tokens if completion else None,
        prompt.cache_write_tokens if prompt else None,
    )


def has_content(delta: Raw) -> bool:
    """True for text, tools, reasoning and whatever comes next: anything said beside the role."""
    try:
        fields = _decode_fields(delta)
    except msgspec.DecodeError:
        return False
    return any(name != "role" and bytes(value) not in _NOTHING for name, value in fields.items())


def is_plain_delta(payload: Payload) -> bool:
    """The usual event of a stream: one choice goes on, and nothing else is said."""
    choices = payload.choices
    if choices is None or len(choices) != 1 or payload.usage is not None or payload.error is not NULL:
        return False
    return choices[0].finish_reason is None and choices[0].error is NULL


def says_nothing(payload: Payload) -> bool:
    """An answer that the provider itself calls empty (B-16): stopped at once, no token, no content."""
    if payload.usage is None or payload.usage.completion_tokens != 0 or not payload.choices:
        return False
    choice = payload.choices[0]
    return choice.finish_reason == "stop" and not has_content(choice.message)


def error_in(payload: Payload) -> ProviderError | None:
    """An error inside a success, in the shapes seen in the wild (B-15, E-05)."""
    if payload.error is not NULL and bytes(payload.error) != b"null":
        return error_of(payload.error)
    for choice in payload.choices or ():
        if choice.error is not NULL and bytes(choice.error) != b"null":
            return error_of(choice.error)
        if choice.finish_reason == "error":
            return ProviderError("The provider ended the answer with an error.")
    return None


def error_of(raw: Raw) -> ProviderError:
    """An error object, or a bare string in its place."""
    try:
        read = _decode_fault(raw)
    except msgspec.DecodeError:
        return ProviderError("The provider reported an error of an unknown shape.")
    if isinstance(read, str):
        return ProviderError(clean(read))
    return ProviderError(clean(_text(read.message) or "The provider gave no message."), *_details(read))


def read_error(status: int, body: bytes) -> ProviderError:
    """The error in a body of status 4xx or 5xx; a page that is not JSON is described, never repeated (B-13)."""
    try:
        shape = _decode_fault_shape(body)
    except UNREADABLE:
        return ProviderError(f"The provider answered with status {status} and a body that is not JSON.")
    if bytes(shape.error) != b"null":
        return error_of(shape.error)
    message = clean(_text(shape.message) or _detail(shape.detail))
    return ProviderError(message or f"The provider answered with status {status} and no message.", *_details(shape))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _details(fault: _Fault) -> tuple[str | None, str | None, str | None]:
    """Type, code and param, as far as they are what they should be."""
    type_ = _text(fault.type)
    is_code = isinstance(fault.code, str | int | float) and not isinstance(fault.code, bool)
    code = _CODE_BY_TYPE.get(type_ or "") or (str(fault.code) if is_code else None)
    return type_, code, _text(fault.param)


def _detail(detail: Any) -> str:
    """A text, or a list of what is wrong where, which is shown as it is."""
    if detail is None or isinstance(detail, str):
        return detail or ""
    return msgspec.json.encode(detail).decode()


def clean(text: str) -> str:
    """Provider text that may be shown to a caller: one line, bounded, no control characters."""
    return _CONTROL.sub(" ", text[:_MAX_MESSAGE_CHARS]).strip()


def error_object(error: GatewayError) -> dict[str, str | None]:
    """The OpenAI error object; all four keys are always there, as the SDKs expect."""
    return {"message": error.message, "type": error.openai_type, "param": error.param, "code": error.code}
