"""How an error of ours looks in Anthropic's dialect."""

import json
from typing import Any

import pytest

from pointsman.dialects.anthropic_messages import AnthropicMessages
from pointsman.domain.errors import ErrorKind, GatewayError, ProviderFaultError, ProviderRefusalError

CODEC = AnthropicMessages()
# a status, or its hundred, and the type that Anthropic documents for it
TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    408: "timeout_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error", 505: "invalid_request_error", 501: "invalid_request_error", 4: "invalid_request_error",
    5: "api_error",
}  # fmt: skip


def written(error: GatewayError) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CODEC.write_error(error, "req_1"))
    return found


def refused(type_: str | None, code: str | None = None, message: str = "no") -> dict[str, Any]:
    fault: dict[str, Any] = written(ProviderRefusalError(400, message, type_=type_, code=code, param=None))["error"]
    return fault


def test_an_error_has_anthropics_envelope_and_our_code() -> None:
    error = GatewayError(ErrorKind.MODEL_NOT_FOUND, "There is no model 'x'.", param="model")

    assert written(error) == {
        "type": "error",
        "error": {
            "type": "not_found_error",
            "message": "There is no model 'x'.",
            "details": {"error_code": "model_not_found"},
        },
        "request_id": "req_1",
    }


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_every_kind_has_the_type_of_its_status(kind: ErrorKind) -> None:
    error = GatewayError(kind, "x")

    status = CODEC.status_of(error)
    assert written(error)["error"]["type"] == TYPES.get(status, TYPES[status // 100])


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_overloaded_has_a_status_of_its_own_and_every_other_kind_the_usual_one(kind: ErrorKind) -> None:
    usual = kind.value.status

    assert CODEC.status_of(GatewayError(kind, "x")) == (529 if usual == 503 else usual)


@pytest.mark.bug("B-12")
@pytest.mark.parametrize(
    "type_", ["invalid_request_error", "permission_error", "conflict_error", "billing_error", "request_too_large"]
)
def test_refusal_keeps_the_providers_type(type_: str) -> None:
    assert refused(type_) == {"type": type_, "message": "no"}


@pytest.mark.parametrize("type_", [None, "exceed_context_size_error", "BadRequestError"])
def test_type_of_another_dialect_is_translated(type_: str | None) -> None:
    assert refused(type_)["type"] == "invalid_request_error"


@pytest.mark.bug("B-08")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("request (9 tokens) exceeds", "prompt is too long: request (9 tokens) exceeds"),
        ("prompt is too long: 9 tokens > 5 maximum", "prompt is too long: 9 tokens > 5 maximum"),
    ],
)
def test_prompt_that_is_too_long_says_so_in_the_words_that_agents_know(said: str, shown: str) -> None:
    assert refused("exceed_context_size_error", "context_length_exceeded", said)["message"] == shown


@pytest.mark.bug("E-05", "E-15")
@pytest.mark.parametrize(
    ("said", "type_"), [("overloaded_error", "overloaded_error"), (None, "api_error"), ("server_error", "api_error")]
)
def test_broken_stream_ends_with_one_named_error_event_of_the_providers_type(said: str | None, type_: str) -> None:
    error = ProviderFaultError('a\n"b"', type_=said, code=None, param=None)

    raw = CODEC.write_stream_error(error, CODEC.decoder())

    (event,) = CODEC.decoder().feed(raw)
    assert event.raw == raw
    assert raw.startswith(b"event: error\n")
    assert json.loads(event.data or b"") == {"type": "error", "error": {"type": type_, "message": 'a\n"b"'}}
