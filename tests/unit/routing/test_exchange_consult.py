"""A policy service is asked before the first decision about its group, by the driver and not by the decision."""

import pytest

from pointsman.domain.decision import DecisionMode, FinishReason
from pointsman.domain.opinion import FallbackReason, Told
from pointsman.domain.policy import External, Fallbacks
from pointsman.domain.preferences import Demands, Preferences, Sort
from pointsman.domain.target import ModelGroup, Target
from pointsman.routing.exchange import Consult, Exchange
from pointsman.routing.explain import explain
from pointsman.testing import builders
from tests.unit.routing.asking import NOW, OPEN, Draws, HandBoard, Request
from tests.unit.routing.commands import error_of, target_of

FAULTS = [FallbackReason.NO_ANSWER, FallbackReason.BAD_ANSWER, FallbackReason.CIRCUIT_OPEN]


def group(*members: str | tuple[str, float], fails_closed: bool = False, **policy: object) -> ModelGroup:
    external = External(fails_closed=fails_closed)
    return builders.group("chat", *(members or ("a/m", "b/m")), strategy="external", external=external, **policy)


class IdleBoard(HandBoard):
    """One that an explanation can read."""

    def in_flight(self, target: Target) -> int:
        return 0


def asked(request: Request) -> list[str]:
    command = request.start()
    assert isinstance(command, Consult), command
    return [candidate.id for candidate in command.question.candidates]


def test_first_command_is_to_ask_about_all_who_are_eligible_also_the_paused() -> None:
    request = Request(group=group("a/m", "b/m", ("c/m", 0)), views={"a/m": OPEN})

    assert asked(request) == ["a/m", "b/m"]
    assert request.exchange.decisions == []


def test_told_target_serves() -> None:
    request = Request(group=group())
    asked(request)

    command = request.exchange.told({"b/m": 1.0}, NOW)

    assert target_of(command) == "b/m"
    assert request.exchange.last_mode is DecisionMode.EXTERNAL


def test_one_answer_holds_for_all_attempts() -> None:
    request = Request(group=group("a/m", "b/m", "c/m"))
    asked(request)
    request.exchange.told({"b/m": 3.0, "c/m": 2.0, "a/m": 1.0}, NOW)

    second = request.ends("upstream_fault", status=503)
    third = request.ends("upstream_fault", status=503)

    assert (target_of(second), target_of(third)) == ("c/m", "a/m")


@pytest.mark.req("G-081")
def test_nobody_is_asked_where_there_is_nothing_to_choose() -> None:
    assert target_of(Request(group=group("a/m", ("b/m", 0))).start()) == "a/m"


@pytest.mark.parametrize("told", [*FAULTS, {}])
def test_without_a_usable_answer_weights_decide(told: Told) -> None:
    request = Request(group=group())
    asked(request)

    target_of(request.exchange.told(told, NOW))

    assert request.exchange.last_mode is DecisionMode.FALLBACK
    scores = request.exchange.decisions[-1].scores
    assert scores is not None
    assert scores.fallback == (told or FallbackReason.NO_OPINION)


@pytest.mark.parametrize("told", FAULTS)
def test_group_that_fails_closed_refuses(told: Told) -> None:
    request = Request(group=group(fails_closed=True))
    asked(request)

    command = request.exchange.told(told, NOW)

    assert error_of(command) == (FinishReason.POLICY_UNAVAILABLE, "policy_unavailable")


def test_group_that_fails_closed_is_served_while_the_service_answers() -> None:
    request = Request(group=group(fails_closed=True))
    asked(request)

    assert target_of(request.exchange.told({"b/m": 1.0}, NOW)) == "b/m"


def test_group_that_is_turned_to_has_its_own_service_asked() -> None:
    spare = builders.group("spare", "c/m", "d/m", strategy="external", external=External())
    first = group(fallbacks=Fallbacks(any_failure=("spare",)))
    ask = builders.ask(config=builders.snapshot([first, spare]))
    exchange = Exchange(ask, first, HandBoard(), Draws(0.5), began_at=NOW, deadline=NOW + 600)
    exchange.start(NOW)
    exchange.told({"a/m": 1.0}, NOW)
    for _ in range(2):
        command = exchange.finished(builders.outcome("upstream_fault", status=503), NOW)

    assert isinstance(command, Consult)
    assert [candidate.id for candidate in command.question.candidates] == ["c/m", "d/m"]
    assert target_of(exchange.told({"d/m": 1.0}, NOW)) == "d/m"


def test_request_that_sorts_asks_nobody() -> None:
    demands = Demands(preferences=Preferences(sort=Sort.PRICE))
    of = group()
    ask = builders.ask(config=builders.snapshot([of]), demands=demands)
    exchange = Exchange(ask, of, HandBoard(), Draws(0.5), began_at=NOW, deadline=NOW + 600)

    assert target_of(exchange.start(NOW)) in {"a/m", "b/m"}


@pytest.mark.parametrize("fails_closed", [False, True])
def test_explanation_asks_nobody_and_says_so(fails_closed: bool) -> None:
    of = group(("a/m", 1.0), ("b/m", 1.0), fails_closed=fails_closed)

    found = explain(builders.ask(config=builders.snapshot([of])), IdleBoard(), Draws(0.9), NOW)

    assert (found.action, found.mode, found.picked) == ("send", DecisionMode.FALLBACK, "b/m")
