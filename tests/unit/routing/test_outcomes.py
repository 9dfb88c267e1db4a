"""What a provider's answer means."""

from typing import Any

import pytest

from pointsman.domain.outcome import OutcomeClass, ProviderError
from pointsman.routing.outcomes import OUTCOME_BY_STATUS, VERDICT_BY_CODE, Verdict, verdict, verdict_in_band
from pointsman.routing.retry import GOES_ON

CLASS_OF_STATUS = {
    "caller_fault": (400, 411, 413, 415, 422),
    "credential_fault": (401, 402),
    "blocked": (403, 406, 418, 431, 451, 497),
    "missing": (404, 405, 410),
    "conflict": (409,),
    "rate_limited": (429, 529),
    "upstream_fault": (
        408, 421, 423, 424, 425, 426, 498, 499, 500, 501, 502, 503, 504, 505, 520, 522, 524, 526, 530, 599,
    ),
    "bad_payload": (0, 100, 101, 199, 201, 202, 204, 206, 300, 301, 302, 304, 307, 308, 600, 999),
}  # fmt: skip
STATUSES = [(status, OutcomeClass(name)) for name, statuses in CLASS_OF_STATUS.items() for status in statuses]


def error(message: str = "", *, code: str | None = None, type_: str | None = None) -> ProviderError:
    return ProviderError(message, type_, code)


@pytest.mark.req("C-06")
@pytest.mark.bug("A-21")
@pytest.mark.parametrize(("status", "expected"), STATUSES)
def test_status_alone_means(status: int, expected: OutcomeClass) -> None:
    assert verdict(status, None) == Verdict(expected)


@pytest.mark.bug("A-21", "A-09")
@pytest.mark.parametrize("status", [408, 409, 425, 429, 498, 500, 502, 503, 504, 520, 522, 524, 529, 530])
def test_status_that_another_target_may_not_have_goes_on_to_it(status: int) -> None:
    assert GOES_ON[verdict(status, None).outcome_class]


@pytest.mark.parametrize("status", list(OUTCOME_BY_STATUS))
def test_text_that_says_nothing_leaves_the_verdict_to_the_status(status: int) -> None:
    assert verdict(status, error("Something went wrong.")) == Verdict(OUTCOME_BY_STATUS[status])


@pytest.mark.parametrize("code", list(VERDICT_BY_CODE))
@pytest.mark.parametrize("status", [400, 403, 404, 429, 500])
def test_providers_code_beats_the_status(status: int, code: str) -> None:
    assert verdict(status, error(code=code)) == VERDICT_BY_CODE[code]


@pytest.mark.parametrize("type_", list(VERDICT_BY_CODE))
def test_type_counts_like_a_code(type_: str) -> None:
    assert verdict(500, error(type_=type_)) == VERDICT_BY_CODE[type_]


def test_code_beats_the_type() -> None:
    both = error(code="model_not_found", type_="rate_limit_error")

    assert verdict(400, both) == Verdict(OutcomeClass.MISSING, confirmed=True)


@pytest.mark.bug("A-08")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, error("Your credit balance is too low to access the API.", type_="invalid_request_error")),
        (402, error("Insufficient Balance")),
        (403, error("Insufficient credits. Add more to go on.")),
        (429, error("You exceeded your current quota, please check your plan.", code="insufficient_quota")),
        (429, error("You exceeded your current quota, please check your plan.")),
    ],
)
def test_out_of_credit_is_a_confirmed_fault_of_our_account(status: int, said: ProviderError) -> None:
    assert verdict(status, said) == Verdict(OutcomeClass.CREDENTIAL_FAULT, confirmed=True)


@pytest.mark.bug("A-08")
@pytest.mark.parametrize("status", [400, 403, 429])
def test_ordinary_refusal_is_not_out_of_credit(status: int) -> None:
    assert verdict(status, error("Too many images.")).outcome_class is not OutcomeClass.CREDENTIAL_FAULT


def test_words_about_credit_mean_nothing_with_another_status() -> None:
    assert verdict(500, error("credit balance is too low")) == Verdict(OutcomeClass.UPSTREAM_FAULT)


@pytest.mark.bug("B-17")
@pytest.mark.parametrize("status", [400, 404])
def test_model_name_that_we_chose_is_our_fault(status: int) -> None:
    assert verdict(status, error(code="model_not_found")) == Verdict(OutcomeClass.MISSING, confirmed=True)


@pytest.mark.bug("A-07")
@pytest.mark.parametrize("code", ["content_filter", "context_length_exceeded", "content_policy_violation"])
def test_what_the_caller_sent_is_the_callers_fault(code: str) -> None:
    assert verdict(400, error(code=code)) == Verdict(OutcomeClass.CALLER_FAULT)


@pytest.mark.parametrize("code", ["invalid_image_url", "image_too_large", "failed_to_download_image"])
def test_image_that_the_caller_brought_is_the_callers_fault_also_inside_a_success(code: str) -> None:
    assert verdict_in_band(error(code=code)) == Verdict(OutcomeClass.CALLER_FAULT)


def test_path_that_an_engine_was_started_without_says_nothing_about_its_others() -> None:
    said = error("This server does not support embeddings.", code="501", type_="not_supported_error")

    assert verdict(501, said) == Verdict(OutcomeClass.BLOCKED)


@pytest.mark.bug("B-15")
@pytest.mark.parametrize(("status", "expected"), [item for item in STATUSES if 400 <= item[0] < 600])
def test_status_inside_a_success_is_handled_as_that_status(status: int, expected: OutcomeClass) -> None:
    assert verdict_in_band(error(code=str(status))) == Verdict(expected)


@pytest.mark.bug("B-15")
@pytest.mark.parametrize("code", list(VERDICT_BY_CODE))
def test_code_or_type_inside_a_success_is_handled_as_such(code: str) -> None:
    assert verdict_in_band(error(code=code)) == VERDICT_BY_CODE[code]
    assert verdict_in_band(error(type_=code)) == VERDICT_BY_CODE[code]


@pytest.mark.bug("B-15")
def test_status_inside_a_success_is_read_with_its_words() -> None:
    said = error("Your credit balance is too low.", code="402")

    assert verdict_in_band(said) == Verdict(OutcomeClass.CREDENTIAL_FAULT, confirmed=True)


@pytest.mark.bug("B-15")
@pytest.mark.parametrize(
    "code", [None, "", "weird", "200", "399", "600", "0429", "-429", "4 9", "²³¹", "9" * 5_000, "500.0"]
)
def test_any_other_error_inside_a_success_is_a_bad_payload(code: str | None) -> None:
    assert verdict_in_band(error(code=code)) == Verdict(OutcomeClass.BAD_PAYLOAD)


# --- Anthropic


@pytest.mark.parametrize(
    ("type_", "status"),
    [("permission_error", 403), ("conflict_error", 409), ("api_error", 500), ("timeout_error", 504)],
)
def test_type_of_anthropic_inside_a_success_is_handled_as_its_status(type_: str, status: int) -> None:
    assert verdict_in_band(error(type_=type_)) == verdict(status, None)


@pytest.mark.bug("B-15", "E-05")
@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("overloaded_error", Verdict(OutcomeClass.RATE_LIMITED)),
        ("rate_limit_error", Verdict(OutcomeClass.RATE_LIMITED)),
        ("authentication_error", Verdict(OutcomeClass.CREDENTIAL_FAULT, confirmed=True)),
        ("billing_error", Verdict(OutcomeClass.CREDENTIAL_FAULT, confirmed=True)),
        ("request_too_large", Verdict(OutcomeClass.CALLER_FAULT)),
    ],
)
@pytest.mark.parametrize("judge", [verdict_in_band, lambda said: verdict(500, said)], ids=["in band", "as a status"])
def test_type_of_anthropic_says_whose_fault_it_is(judge: Any, type_: str, expected: Verdict) -> None:
    assert judge(error(type_=type_)) == expected


@pytest.mark.bug("B-17")
@pytest.mark.parametrize("confirmed", [True, False])
def test_only_a_missing_model_is_surely_our_fault(confirmed: bool) -> None:
    said = error("model: claude-x" if confirmed else "Not found", type_="not_found_error")

    assert verdict(404, said) == Verdict(OutcomeClass.MISSING, confirmed=confirmed)
