"""One request: what follows each attempt, how often, and at whose expense."""

import pytest

from pointsman.domain.decision import DecisionMode, Effects
from pointsman.domain.outcome import OutcomeClass, ProviderError
from pointsman.domain.policy import Retry
from pointsman.routing.exchange import Finish, Send, Wait
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, NOW, OPEN, Request
from tests.unit.routing.commands import error_of, target_of, wait_s

FINAL = {OutcomeClass.OK, OutcomeClass.CALLER_FAULT, OutcomeClass.CALLER_GONE}
GOES_ON = [kind for kind in OutcomeClass if kind not in FINAL]


# --- outcome class x what is left -> next command


@pytest.mark.bug("A-01", "A-09", "A-22")
@pytest.mark.parametrize("kind", GOES_ON)
def test_failure_goes_to_another_target_at_once(kind: OutcomeClass) -> None:
    request = Request("a/m", "b/m")
    request.start()

    command = request.ends(kind, status=503)

    assert target_of(command) == "b/m"
    assert request.now == NOW


@pytest.mark.parametrize("kind", GOES_ON)
def test_failure_that_must_not_be_repeated_ends_when_no_target_is_left(kind: OutcomeClass) -> None:
    request = Request("a/m")
    request.start()

    command = request.ends(kind, detail="protocol")

    assert error_of(command)[0] == "targets_exhausted"


@pytest.mark.case("I1", "T28")
@pytest.mark.req("D-062")
@pytest.mark.parametrize("kind", [kind for kind in OutcomeClass if kind is not OutcomeClass.OK])
def test_nothing_is_sent_after_the_first_content(kind: OutcomeClass) -> None:
    request = Request("a/m", "b/m")
    request.start()

    command = request.ends(kind, committed=True, status=503)

    assert error_of(command) == ("response_started", None)


def test_answer_ends_the_request() -> None:
    request = Request("a/m", "b/m")
    request.start()

    assert error_of(request.ends("ok", committed=True)) == ("ok", None)


@pytest.mark.bug("A-07")
def test_fault_of_the_caller_ends_the_request_in_the_providers_words() -> None:
    request = Request("a/m", "b/m")
    request.start()
    said = ProviderError("Too long.", "invalid_request_error", "context_length_exceeded", "messages")

    command = request.ends("caller_fault", status=413, error=said)

    assert error_of(command) == ("caller_fault", "context_length_exceeded")
    assert isinstance(command, Finish)
    assert command.error is not None
    assert (command.error.status, command.error.message) == (413, "Too long.")


def test_caller_who_left_is_told_nothing() -> None:
    request = Request("a/m", "b/m")
    request.start()

    assert error_of(request.ends("caller_gone")) == ("caller_gone", None)


# --- how often


@pytest.mark.bug("A-13", "B-02")
@pytest.mark.parametrize(("targets", "attempts"), [(1, 2), (2, 3), (3, 4), (4, 4), (9, 4)])
def test_attempts_are_one_more_than_there_are_targets_and_at_most_four(targets: int, attempts: int) -> None:
    request = Request(*[f"{number}/m" for number in range(targets)], draw=0.0)

    finish = request.fails_to_the_end()

    assert (len(request.calls), finish.reason) == (attempts, "attempts_exhausted")


@pytest.mark.bug("B-02")
@pytest.mark.parametrize("max_attempts", [1, 2, 6])
def test_configured_number_of_attempts_holds_over_retry_and_failover(max_attempts: int) -> None:
    request = Request("a/m", "b/m", draw=0.0, retry=Retry(max_attempts=max_attempts))

    request.fails_to_the_end()

    assert len(request.calls) == max_attempts


@pytest.mark.bug("A-13")
def test_disabled_target_is_never_tried_however_many_attempts_there_are() -> None:
    group = builders.group("chat", "a/m", "b/m", ("c/m", 0), strategy="failover", retry=Retry(max_attempts=30))
    request = Request(group=group, draw=0.0, retries_left=100)

    request.fails_to_the_end()

    assert "c/m" not in request.calls
    assert len(request.calls) == 30


@pytest.mark.bug("B-03")
def test_target_that_failed_is_not_asked_again_while_another_is_left() -> None:
    request = Request("a/m", "b/m", "c/m")
    request.start()

    for _ in range(3):
        request.ends("upstream_fault", status=503)

    assert request.calls == ["a/m", "b/m", "c/m"]


# --- the retry budget


def test_first_failover_is_free() -> None:
    request = Request("a/m", "b/m", retries_left=0)
    request.start()

    command = request.ends("upstream_fault", status=503)

    assert target_of(command) == "b/m"
    assert request.board.spent == 0


def test_second_failover_needs_budget() -> None:
    request = Request("a/m", "b/m", "c/m", retries_left=0.9)
    request.start()
    request.ends("upstream_fault", status=503)

    command = request.ends("upstream_fault", status=503)

    assert error_of(command) == ("retry_budget_spent", "upstream_error")


def test_second_failover_is_charged() -> None:
    request = Request("a/m", "b/m", "c/m")
    request.start()
    request.ends("upstream_fault", status=503)

    request.ends("upstream_fault", status=503)

    assert request.board.spent == 1


def test_request_is_counted_once() -> None:
    request = Request("a/m", "b/m")

    request.start()
    request.ends("upstream_fault", status=503)

    assert request.board.requests == 1


# --- the same target again


def test_last_target_is_asked_again_after_a_wait() -> None:
    request = Request("a/m", draw=0.5)
    request.start()

    command = request.ends("upstream_fault", status=503)

    assert wait_s(request, command) == 0.25
    assert target_of(request.resumes(0.25)) == "a/m"


def test_retry_on_the_same_target_is_charged() -> None:
    request = Request("a/m")
    request.start()
    request.ends("upstream_fault", status=503)

    request.resumes(1)

    assert request.board.spent == 1


def test_retry_on_the_same_target_needs_budget() -> None:
    request = Request("a/m", retries_left=0.9)
    request.start()

    assert error_of(request.ends("upstream_fault", status=503)) == ("targets_exhausted", "upstream_error")


@pytest.mark.bug("B-05")
@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover"])
def test_waits_double_up_to_their_maximum_whatever_the_strategy(strategy: str) -> None:
    group = builders.group("chat", "a/m", strategy=strategy, retry=Retry(max_attempts=8))
    request = Request(group=group, draw=1.0)
    command, waits_s = request.start(), []

    while not isinstance(command, Finish):
        if isinstance(command, Wait):
            waits_s.append(wait_s(request, command))
            command = request.resumes(waits_s[-1])
        else:
            command = request.ends("upstream_fault", status=503)

    assert waits_s == [0.5, 1, 2, 4, 8, 8, 8]


def test_waits_are_jittered_down_to_nothing() -> None:
    request = Request("a/m", draw=0.0)
    request.start()

    assert wait_s(request, request.ends("upstream_fault", status=503)) == 0


@pytest.mark.bug("A-10")
def test_target_that_its_own_failure_has_paused_is_not_asked_again() -> None:
    request = Request("a/m")
    request.start()
    request.board.views["a/m"] = OPEN

    command = request.ends("upstream_fault", status=503)

    assert error_of(command) == ("targets_exhausted", "upstream_error")


# --- probes


@pytest.mark.case("I30")
def test_probe_is_claimed_before_anything_is_sent() -> None:
    request = Request("a/m", "b/m", views={"b/m": HALF_OPEN})

    command = request.start()

    assert isinstance(command, Send)
    assert command.is_probe
    assert request.board.applied == [Effects(claim_probe=True)]


@pytest.mark.bug("A-11")
def test_probe_is_not_retried_and_its_own_error_is_told() -> None:
    request = Request("a/m", views={"a/m": HALF_OPEN})
    request.start()
    request.board.views["a/m"] = OPEN

    command = request.ends("rate_limited", status=429)

    assert error_of(command) == ("targets_exhausted", "upstream_rate_limited")
    assert request.calls == ["a/m"]


@pytest.mark.bug("A-11")
def test_probe_whose_failure_proves_nothing_is_not_retried_either() -> None:
    request = Request("a/m", views={"a/m": HALF_OPEN})
    request.start()

    command = request.ends("conflict", status=503)

    assert error_of(command)[0] == "targets_exhausted"


@pytest.mark.bug("A-11")
def test_request_that_is_alone_with_one_closed_target_keeps_its_retries() -> None:
    request = Request("a/m", draw=0.0)
    request.start()
    request.ends("upstream_fault", status=503)

    request.resumes(0)

    assert error_of(request.ends("ok")) == ("ok", None)


def test_failed_probe_goes_on_to_another_target() -> None:
    request = Request("a/m", "b/m", views={"b/m": HALF_OPEN})
    first = request.start()
    request.board.views["b/m"] = OPEN

    second = request.ends("upstream_fault", status=503)

    assert (target_of(first), target_of(second)) == ("b/m", "a/m")


# --- turns


def test_turn_moves_on_before_anything_is_sent() -> None:
    request = Request(group=builders.group("chat", "a/m", "b/m", strategy="round_robin"))

    request.start()

    assert request.board.applied == [Effects(turn_credits=(-1.0, 1.0))]


@pytest.mark.req("G-081")
def test_single_target_moves_no_turn() -> None:
    request = Request(group=builders.group("chat", "a/m", strategy="round_robin"))

    request.start()

    assert request.board.applied == []
    assert request.exchange.last_mode is DecisionMode.SINGLE


# --- what is left behind


@pytest.mark.bug("A-02")
def test_every_attempt_is_remembered_with_its_own_outcome() -> None:
    request = Request("a/m", "b/m", "c/m")
    request.start()

    request.now += 0.5
    request.ends("upstream_fault", status=500)
    request.now += 0.5
    request.ends("rate_limited", status=429)
    request.ends("ok")

    seen = [(attempt.target_id, attempt.outcome_class, attempt.started_s) for attempt in request.exchange.attempts]
    assert seen == [("a/m", "upstream_fault", 0.0), ("b/m", "rate_limited", 0.5), ("c/m", "ok", 1.0)]


@pytest.mark.req("X-13")
def test_every_attempt_has_its_decision_and_a_refusal_has_one_too() -> None:
    request = Request("a/m", "b/m")
    request.start()
    request.ends("bad_payload")

    request.ends("bad_payload")

    picks = [decision.pick.target.id if decision.pick else None for decision in request.exchange.decisions]
    assert picks == ["a/m", "b/m", None]


def test_last_failure_is_the_class_and_detail_of_the_latest_attempt_that_failed() -> None:
    request = Request("a/m", "b/m", "c/m")
    request.start()
    before = request.exchange.last_failure

    request.ends("rate_limited", status=429, detail="status_429")
    request.ends("upstream_fault", detail="dns")
    request.ends("ok")

    assert (before, request.exchange.last_failure) == ("", "upstream_fault:dns")


@pytest.mark.req("R-030")
@pytest.mark.parametrize(("strategy", "counted"), [("blend", 1), ("weighted", 0)])
def test_answered_requests_are_counted_for_strategies_that_measure(strategy: str, counted: int) -> None:
    request = Request(group=builders.group("chat", "a/m", "b/m", strategy=strategy))
    request.start()

    request.ends("upstream_fault", status=500)
    request.ends("ok")

    assert request.board.answered == counted
