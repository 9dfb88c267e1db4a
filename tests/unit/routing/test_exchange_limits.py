"""One request: its deadline, and what happens when nobody can serve it."""

from collections.abc import Mapping

import pytest
from msgspec import structs

from pointsman.domain.decision import DecisionMode
from pointsman.domain.policy import OnAllUnavailable
from pointsman.domain.target import Member
from pointsman.domain.view import PauseCause, TargetView
from pointsman.routing.exchange import Finish, Send, Wait
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, OPEN, PROBING, Request, paused_for
from tests.unit.routing.commands import error_of, target_of, told, wait_s

# --- the deadline


@pytest.mark.bug("B-07")
@pytest.mark.case("I23")
def test_no_attempt_starts_after_the_deadline() -> None:
    request = Request("a/m", "b/m", total_s=5)
    request.start()
    request.now += 5

    assert error_of(request.ends("upstream_fault", status=503)) == ("deadline", "deadline_exceeded")
    assert request.calls == ["a/m"]


def test_request_that_comes_too_late_is_not_sent_at_all() -> None:
    request = Request("a/m", total_s=0)

    assert error_of(request.start()) == ("deadline", "deadline_exceeded")
    assert request.exchange.last_mode is None


@pytest.mark.case("I23")
def test_wait_before_a_retry_ends_at_the_deadline_at_the_latest() -> None:
    request = Request("a/m", total_s=0.1, draw=1.0)
    request.start()

    assert wait_s(request, request.ends("upstream_fault", status=503)) == pytest.approx(0.1)


def test_deadline_that_passes_during_a_wait_ends_the_request() -> None:
    request = Request("a/m", total_s=0.1, draw=1.0)
    request.start()
    request.ends("upstream_fault", status=503)

    assert error_of(request.resumes(0.1)) == ("deadline", "deadline_exceeded")


# --- everybody is unavailable


@pytest.mark.bug("A-16")
def test_paused_target_that_returns_soon_is_waited_for() -> None:
    request = Request("a/m", "b/m", views={"a/m": paused_for(60), "b/m": paused_for(2)})

    command = request.start()
    request.board.views["b/m"] = HALF_OPEN

    assert wait_s(request, command) == 2
    assert target_of(request.resumes(2)) == "b/m"


def test_waits_for_paused_targets_last_ten_seconds_together() -> None:
    request = Request("a/m", views={"a/m": paused_for(6, PauseCause.RATE_LIMIT)})
    first = request.start()
    request.board.views["a/m"] = paused_for(12, PauseCause.RATE_LIMIT)

    second = request.resumes(6)

    assert isinstance(first, Wait)
    assert error_of(second) == ("upstream_rate_limited", "upstream_rate_limited")


def test_probe_of_another_request_is_waited_for_in_small_steps() -> None:
    request = Request("a/m", views={"a/m": PROBING})

    command = request.start()
    request.board.views.clear()

    assert wait_s(request, command) == pytest.approx(0.1)
    assert target_of(request.resumes(0.1)) == "a/m"


def test_endless_probe_of_another_request_is_not_waited_for_endlessly() -> None:
    request = Request("a/m", views={"a/m": PROBING})
    command, waits = request.start(), 0

    while isinstance(command, Wait):
        command, waits = request.resumes(command.until - request.now), waits + 1

    assert isinstance(command, Send)
    assert not command.is_probe
    assert 90 <= waits <= 110


@pytest.mark.req("G-061")
@pytest.mark.case("T44")
def test_least_bad_target_is_tried_when_all_are_paused_after_faults() -> None:
    request = Request("a/m", "b/m", views={"a/m": paused_for(200), "b/m": paused_for(100)})

    command = request.start()

    assert target_of(command) == "b/m"
    assert request.exchange.last_mode is DecisionMode.PANIC


def test_all_that_are_paused_after_faults_are_tried_in_turn() -> None:
    request = Request("a/m", "b/m", views={"a/m": paused_for(200), "b/m": paused_for(100)})
    request.start()

    second = request.ends("upstream_fault", status=503)
    third = request.ends("upstream_fault", status=503)

    assert target_of(second) == "a/m"
    assert error_of(third) == ("targets_exhausted", "upstream_error")


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (PauseCause.RATE_LIMIT, "upstream_rate_limited"),
        (PauseCause.CREDENTIAL, "upstream_misconfigured"),
        (PauseCause.MISSING, "upstream_misconfigured"),
    ],
)
def test_held_targets_are_not_tried(cause: PauseCause, code: str) -> None:
    request = Request("a/m", views={"a/m": paused_for(100, cause)})

    assert error_of(request.start()) == (code, code)
    assert request.calls == []


@pytest.mark.parametrize(("mode", "expected"), [("auto", Wait), ("wait", Wait), ("try", Send), ("refuse", Finish)])
def test_policy_decides_what_happens_when_all_are_unavailable(mode: str, expected: type) -> None:
    request = Request("a/m", views={"a/m": paused_for(5)}, on_all_unavailable=OnAllUnavailable(mode))

    assert isinstance(request.start(), expected)


@pytest.mark.bug("B-04")
@pytest.mark.parametrize(
    ("views", "seconds"),
    [({"a/m": paused_for(42.5), "b/m": paused_for(70)}, 43), ({"a/m": paused_for(1e-3), "b/m": OPEN}, 1)],
)
def test_refusal_tells_when_the_first_target_returns(views: Mapping[str, TargetView], seconds: int) -> None:
    request = Request("a/m", "b/m", views=views, on_all_unavailable=OnAllUnavailable.REFUSE)

    assert told(request.start()) == (503, seconds)


@pytest.mark.bug("B-04")
def test_rate_limit_in_the_end_tells_when_the_first_target_returns() -> None:
    request = Request("a/m", "b/m")
    request.start()
    request.board.views["a/m"] = paused_for(45, PauseCause.RATE_LIMIT)
    request.ends("rate_limited", status=429, retry_after_s=1.0)
    request.board.views["b/m"] = paused_for(30, PauseCause.RATE_LIMIT)

    assert told(request.ends("rate_limited", status=429)) == (429, 30)


# --- nobody is eligible


def test_group_without_an_eligible_target_lists_each_reason() -> None:
    group = builders.group("chat", ("a/m", 0), "b/m")
    deaf = structs.replace(group.members[1].target, dialects=frozenset())
    request = Request(group=structs.replace(group, members=(group.members[0], Member(deaf, 1.0))))

    command = request.start()

    assert error_of(command) == ("no_eligible_target", "no_eligible_target")
    assert isinstance(command, Finish)
    assert command.error is not None
    assert "a/m: its weight is 0" in command.error.message
    assert "b/m: its provider speaks neither" in command.error.message


def test_missing_credential_is_told_as_our_own_misconfiguration() -> None:
    group = builders.group("chat", "a/m")
    bare = structs.replace(group.members[0].target, has_credential=False)
    request = Request(group=structs.replace(group, members=(Member(bare, 1.0),)))

    assert error_of(request.start()) == ("no_eligible_target", "upstream_misconfigured")
