"""Errors in Anthropic's dialect (pure)."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from pointsman.domain.errors import ErrorKind, GatewayError

_USUAL_TYPE = "invalid_request_error"  # of every kind that is the caller's to mend and not in the table
_TYPE_BY_KIND: Mapping[ErrorKind, str] = MappingProxyType(
    {
        ErrorKind.INVALID_API_KEY: "authentication_error",
        ErrorKind.PERMISSION_DENIED: "permission_error",
        ErrorKind.MODEL_NOT_FOUND: "not_found_error",
        ErrorKind.PATH_NOT_FOUND: "not_found_error",
        ErrorKind.REQUEST_TIMEOUT: "timeout_error",
        ErrorKind.REQUEST_TOO_LARGE: "request_too_large",
        ErrorKind.UPSTREAM_RATE_LIMITED: "rate_limit_error",
        ErrorKind.INTERNAL: "api_error",
        ErrorKind.UPSTREAM_MISCONFIGURED: "api_error",
        ErrorKind.UPSTREAM_ERROR: "api_error",
        ErrorKind.ALL_TARGETS_UNAVAILABLE: "overloaded_error",
        ErrorKind.OVERLOADED: "overloaded_error",
        ErrorKind.POLICY_UNAVAILABLE: "overloaded_error",
        ErrorKind.DEADLINE: "timeout_error",
    }
)
# Anthropic's closed set: a provider's own type is kept if it is one of these
_PROVIDER_TYPES = frozenset(
    (
        *_TYPE_BY_KIND.values(), _USUAL_TYPE, "billing_error", "conflict_error",
    )
)  # fmt: skip
_STATUS = {503: 529}  # overloaded has a status of its own, which clients wait for

# agents look for these words and shorten their prompt, whatever the engine behind said
_TOO_LONG, _TOO_LONG_CODE = "prompt is too long", "context_length_exceeded"


def status_of(error: GatewayError) -> int:
    """The status of an error that is answered with."""
    return _STATUS.get(error.status, error.status)


def type_of(error: GatewayError) -> str:
    """The provider's word if it is one of the dialect, else ours for the kind."""
    said = error.provider_type
    return said if said in _PROVIDER_TYPES else _TYPE_BY_KIND.get(error.kind, _USUAL_TYPE)


def written(error: GatewayError, request_id: str | None) -> bytes:
    """The error object; `request_id` None: there is one in the headers only."""
    message = error.message
    if error.code == _TOO_LONG_CODE and _TOO_LONG not in message:
        message = f"{_TOO_LONG}: {message}"
    fault: dict[str, object] = {"type": type_of(error), "message": message}
    if error.code is not None:
        fault["details"] = {"error_code": error.code}
    whole = {"type": "error", "error": fault}
    return msgspec.json.encode(whole if request_id is None else {**whole, "request_id": request_id})
