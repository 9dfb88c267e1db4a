"""What providers say went wrong, in the many shapes seen in the wild (pure)."""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.domain.outcome import ProviderError

NULL = Raw(b"null")
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# llama.cpp says it by the type alone, and its code is the status; agents compact when they see the code (B-08)
_CODE_BY_TYPE = {"exceed_context_size_error": "context_length_exceeded"}
_MAX_MESSAGE_CHARS = 1_000  # enough for any explanation; a page of HTML is not one
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class _Fault(Struct):
    """Any types: one odd field must not cost the others, the code least of all."""

    message: Any = None
    type: Any = None
    code: Any = None  # llama.cpp and others send the status here
    param: Any = None
    details: Any = None  # Anthropic's code is in here


class _FaultShape(_Fault):
    error: Raw = NULL
    detail: Any = None  # FastAPI's shape


_decode_fault = Decoder(_Fault | str).decode
_decode_fault_shape = Decoder(_FaultShape).decode


def is_given(raw: Raw) -> bool:
    """Whether an `error` field says anything."""
    return bytes(raw) != b"null"


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
    if is_given(shape.error):
        return error_of(shape.error)
    message = clean(_text(shape.message) or _detail(shape.detail))
    return ProviderError(message or f"The provider answered with status {status} and no message.", *_details(shape))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _details(fault: _Fault) -> tuple[str | None, str | None, str | None]:
    """Type, code and param, as far as they are what they should be."""
    type_ = _text(fault.type)
    said = fault.details.get("error_code") if isinstance(fault.details, dict) else None
    said = fault.code if said is None else said
    is_code = isinstance(said, str | int | float) and not isinstance(said, bool)
    code = _CODE_BY_TYPE.get(type_ or "") or (str(said) if is_code else None)
    return type_, code, _text(fault.param)


def _detail(detail: Any) -> str:
    """A text, or a list of what is wrong where, which is shown as it is."""
    if detail is None or isinstance(detail, str):
        return detail or ""
    return msgspec.json.encode(detail).decode()


def clean(text: str) -> str:
    """Provider text that may be shown to a caller: one line, bounded, no control characters."""
    return _CONTROL.sub(" ", text[:_MAX_MESSAGE_CHARS]).strip()
