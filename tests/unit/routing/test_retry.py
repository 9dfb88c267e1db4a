"""What follows a failure, and what the caller is told in the end."""

import pytest

from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import Outcome, OutcomeClass, ProviderError
from pointsman.routing import retry
from pointsman.testing import builders

FINAL = {OutcomeClass.OK, OutcomeClass.CALLER_FAULT, OutcomeClass.CALLER_GONE}
SAID = ProviderError("No such region.", "invalid_request_error", "region_blocked", "region")


def final_error(*classes: str, soonest_s: float = 0.0) -> GatewayError:
    return retry.final_error("chat", [failed(kind) for kind in classes], soonest_s=soonest_s)


def failed(kind: str) -> Outcome:
    status = {"blocked": 403, "conflict": 409}.get(kind, 500)
    return builders.outcome(kind, status=status, error=SAID)


@pytest.mark.parametrize("kind", list(OutcomeClass))
def test_failure_goes_on_unless_it_is_final(kind: OutcomeClass) -> None:
    assert retry.may_go_on(builders.outcome(kind)) is (kind not in FINAL)


@pytest.mark.case("I1", "T28")
@pytest.mark.req("D-062")
@pytest.mark.parametrize("kind", list(OutcomeClass))
def test_nothing_goes_on_after_the_first_content(kind: OutcomeClass) -> None:
    assert not retry.may_go_on(builders.outcome(kind, committed=True))


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_same_target_may_be_asked_again_after_this_status(status: int) -> None:
    assert retry.may_repeat(builders.outcome("upstream_fault", status=status))


@pytest.mark.parametrize("detail", ["connect_refused", "connect_timeout", "dns", "tls", "unreachable", "closed"])
def test_same_target_may_be_asked_again_when_it_was_not_reached(detail: str) -> None:
    assert retry.may_repeat(builders.outcome("upstream_fault", detail=detail))


@pytest.mark.parametrize("status", [None, 200, 400, 401, 402, 403, 404, 409, 501, 505, 520])
def test_same_target_is_not_asked_again_after_any_other_status(status: int | None) -> None:
    assert not retry.may_repeat(builders.outcome("upstream_fault", status=status))


@pytest.mark.parametrize("detail", ["", "protocol", "truncated", "timeout_first_content", "timeout_total", "empty"])
def test_same_target_is_not_asked_again_after_it_may_have_worked(detail: str) -> None:
    assert not retry.may_repeat(builders.outcome("upstream_fault", detail=detail))


@pytest.mark.bug("B-09")
@pytest.mark.parametrize(
    ("classes", "code", "status"),
    [
        (("upstream_fault",), "upstream_error", 502),
        (("broken_stream", "bad_payload"), "upstream_error", 502),
        (("rate_limited",), "upstream_rate_limited", 429),
        (("rate_limited", "rate_limited"), "upstream_rate_limited", 429),
        (("rate_limited", "upstream_fault"), "upstream_error", 502),
        (("credential_fault",), "upstream_misconfigured", 502),
        (("missing", "credential_fault"), "upstream_misconfigured", 502),
        (("credential_fault", "rate_limited"), "upstream_rate_limited", 429),
        (("rate_limited", "missing"), "upstream_rate_limited", 429),
        (("upstream_fault", "missing"), "upstream_error", 502),
        (("blocked",), "region_blocked", 403),
        (("conflict", "blocked"), "region_blocked", 403),
        (("blocked", "conflict"), "region_blocked", 409),
        (("missing", "blocked"), "region_blocked", 403),
        (("blocked", "missing"), "region_blocked", 403),
        (("blocked", "upstream_fault"), "upstream_error", 502),
        (("upstream_fault", "blocked"), "upstream_error", 502),
        (("blocked", "rate_limited"), "upstream_error", 502),
    ],
)
def test_error_that_heals_beats_one_that_does_not(classes: tuple[str, ...], code: str, status: int) -> None:
    error = final_error(*classes)

    assert (error.code, error.status) == (code, status)


@pytest.mark.bug("B-04")
@pytest.mark.parametrize(
    ("soonest_s", "header"), [(0.0, 1), (0.2, 1), (1.0, 1), (1.2, 2), (29.1, 30), (60.0, 60), (300.0, 60)]
)
def test_rate_limit_tells_when_a_target_is_free_again_in_whole_seconds(soonest_s: float, header: int) -> None:
    assert final_error("rate_limited", soonest_s=soonest_s).retry_after_header == header


def test_failed_upstreams_may_be_asked_again_at_once() -> None:
    error = final_error("upstream_fault")

    assert (error.should_retry, error.retry_after_header) == (True, 1)


@pytest.mark.parametrize(("count", "words"), [(1, "(1 attempt)"), (3, "(3 attempts)")])
def test_failed_upstreams_are_counted_in_the_message(count: int, words: str) -> None:
    assert words in final_error(*["upstream_fault"] * count).message


def test_our_own_misconfiguration_is_not_to_be_retried() -> None:
    error = final_error("credential_fault")

    assert (error.should_retry, error.retry_after_header) == (False, None)


def test_refusal_keeps_the_providers_words() -> None:
    error = retry.refusal(builders.outcome("caller_fault", status=422, error=SAID))

    assert (error.status, error.message) == (422, "No such region.")
    assert (error.openai_type, error.code, error.param) == ("invalid_request_error", "region_blocked", "region")
    assert not error.should_retry


def test_refusal_without_words_is_still_an_error_of_the_request() -> None:
    error = retry.refusal(builders.outcome("caller_fault"))

    assert (error.status, error.openai_type, error.code) == (400, "invalid_request_error", None)
    assert error.message


@pytest.mark.bug("B-15")
def test_refusal_that_came_inside_a_success_is_no_success() -> None:
    assert retry.refusal(builders.outcome("caller_fault", status=200, error=SAID)).status == 400


def test_refusal_is_of_the_type_that_the_provider_named() -> None:
    said = ProviderError("Too long.", "context_window_error", None, None)

    assert retry.refusal(builders.outcome("caller_fault", status=422, error=said)).openai_type == "context_window_error"
