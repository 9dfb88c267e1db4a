"""The one table of errors."""

import pytest

from pointsman.domain.errors import ErrorKind, GatewayError, ProviderFaultError, ProviderRefusalError


@pytest.mark.bug("B-04")
@pytest.mark.parametrize(
    ("seconds", "header"),
    [(None, None), (0.0, 1), (0.001, 1), (1.0, 1), (1.01, 2), (59.5, 60), (60.0, 60), (300.0, 60), (-3.0, 1)],
)
def test_retry_after_is_whole_seconds_rounded_up_from_one_to_sixty(seconds: float | None, header: int | None) -> None:
    error = GatewayError(ErrorKind.OVERLOADED, "busy", retry_after_s=seconds)

    assert error.retry_after_header == header


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_error_takes_status_type_and_code_from_the_table(kind: ErrorKind) -> None:
    error = GatewayError(kind, "text", param="model")

    rule = kind.value
    assert (error.status, error.openai_type, error.code) == (rule.status, rule.openai_type, rule.code)
    assert (error.message, str(error), error.param) == ("text", "text", "model")


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_error_of_the_request_itself_is_not_to_be_retried(kind: ErrorKind) -> None:
    rule = kind.value
    heals = rule.status >= 500 or rule.status in {408, 429}

    assert not rule.should_retry or heals


def test_codes_are_unique() -> None:
    codes = [kind.value.code for kind in ErrorKind]

    assert len(set(codes)) == len(codes)


def test_refusal_keeps_what_the_provider_said() -> None:
    error = ProviderRefusalError(422, "Too long.", type_="t", code="c", param="p")

    assert (error.status, error.message, error.openai_type, error.code, error.param) == (
        422,
        "Too long.",
        "t",
        "c",
        "p",
    )
    assert not error.should_retry


def test_refusal_without_a_type_has_the_usual_one_and_no_code_of_ours() -> None:
    error = ProviderRefusalError(400, "No.", type_=None, code=None, param=None)

    assert (error.openai_type, error.code) == ("invalid_request_error", None)


def test_fault_within_an_answer_keeps_the_providers_words_and_has_a_status_of_ours() -> None:
    error = ProviderFaultError("Busy.", type_="overloaded_error", code="c", param="p")

    assert (error.status, error.openai_type, error.provider_type) == (502, "server_error", "overloaded_error")
    assert (error.message, error.code, error.param) == ("Busy.", "c", "p")
