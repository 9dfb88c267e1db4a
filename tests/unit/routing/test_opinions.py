"""What outsiders are asked, and what their answers mean for the candidates of a decision."""

import math
from random import Random

import msgspec
import pytest
from msgspec import structs

from pointsman.domain.decision import Decision, DecisionMode
from pointsman.domain.opinion import FallbackReason, Question, Told
from pointsman.domain.ports import Rng
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import TargetView
from pointsman.routing.opinions import BadAnswerError, question, read_answer
from pointsman.routing.router import decide, standing
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, picked

NOW = 12.5


class Says:
    """An adviser that always says the same, and remembers what it was asked."""

    name, origin = "says", "a test"

    def __init__(self, told: Told) -> None:
        self.told = told
        self.asked: list[Question] = []
        self.draws: list[float] = []
        self.at: list[float] = []

    def ask(self, question: Question, *, now: float, rng: Rng) -> Told:
        self.asked.append(question)
        self.at.append(now)
        self.draws.append(rng.random())
        return self.told


def group(adviser: Says | None, *members: str | tuple[str, float]) -> ModelGroup:
    return builders.group("chat", *(members or ("a/m", "b/m", "c/m")), strategy="plugin", plugin=adviser)


def decided(of: ModelGroup, *views: TargetView, seed: int = 1, tried: frozenset[str] = frozenset()) -> Decision:
    seen = views or (builders.view(),) * len(of.members)
    view = structs.replace(builders.group_view(*seen), at=NOW)
    return decide(builders.ask(), of, view, rng=Random(seed), tried=tried, lengths=builders.lengths(of))


def test_preferred_target_serves_and_the_decision_says_by_which_scores() -> None:
    found = decided(group(Says({"a/m": 0.5, "b/m": 2.0})))

    assert found.pick is not None
    assert (picked(found), found.pick.mode, found.pick.propensity) == ("b/m", DecisionMode.PLUGIN, 1.0)
    assert found.scores is not None
    assert (found.scores.terms, found.scores.fallback) == ({"score": (0.5, 2.0, 0.0)}, None)


def test_plugin_gets_the_instant_of_the_view_and_the_draws_of_the_decision() -> None:
    adviser = Says({"a/m": 1.0})

    decided(group(adviser), seed=3)

    assert (adviser.at, adviser.draws) == ([NOW], [Random(3).random()])


@pytest.mark.req("D-023")
def test_plugin_is_asked_about_candidates_only() -> None:
    adviser = Says({"b/m": 5.0, "c/m": 1.0})

    found = decided(group(adviser, "a/m", "b/m", "c/m", ("d/m", 0)), builders.view(), OPEN, *(builders.view(),) * 2)

    assert [candidate.id for candidate in adviser.asked[0].candidates] == ["a/m", "c/m"]
    assert picked(found) == "c/m"


def test_after_a_failure_the_plugin_is_asked_again_without_the_tried() -> None:
    adviser = Says({"a/m": 2.0, "b/m": 1.0})

    found = decided(group(adviser), tried=frozenset({"a/m"}))

    assert [candidate.id for candidate in adviser.asked[0].candidates] == ["b/m", "c/m"]
    assert picked(found) == "b/m"


@pytest.mark.req("G-081")
def test_plugin_is_not_asked_where_there_is_nothing_to_choose() -> None:
    adviser = Says({})

    found = decided(group(adviser, "a/m"))

    assert (picked(found), adviser.asked) == ("a/m", [])


@pytest.mark.parametrize("told", [FallbackReason.RAISED, FallbackReason.BAD_ANSWER, {}, {"a/m": 0.0}])
def test_plugin_that_fails_leaves_it_to_the_weights(told: Told) -> None:
    found = decided(group(Says(told), ("a/m", 3), ("b/m", 1)))

    assert found.pick is not None
    assert (found.pick.mode, found.shares) == (DecisionMode.FALLBACK, (0.75, 0.25))
    assert found.scores is not None
    assert found.scores.fallback == (FallbackReason.NO_OPINION if isinstance(told, dict) else told)


def test_question_has_what_a_strategy_may_read_and_no_session_id_or_text() -> None:
    of = builders.group("chat", ("a/m", 2.0), strategy="plugin", prices={"a/m": builders.price()})
    measured = builders.measured(3, overdue=1, samples=9, ttft_s=0.5, unary_s=2.0, failure_ratio=0.1)
    ask = builders.ask("alice", stream=True, tool_count=2, session=builders.session("secret-session"))

    asked = question(
        ask, of, (0,), builders.group_view(builders.view(), measured=(measured,)), builders.estimates(of, 0.1)
    )

    assert (asked.version, asked.group, asked.caller, asked.tool_count, asked.stream) == (1, "chat", "alice", 2, True)
    (seen,) = asked.candidates
    assert (seen.id, seen.provider, seen.model, seen.weight, seen.cost_usd) == ("a/m", "a", "m", 2.0, 0.1)
    assert (seen.in_flight, seen.overdue, seen.samples, seen.ttft_s, seen.unary_s) == (3, 1, 9, 0.5, 2.0)
    assert (seen.failure_ratio, seen.rate_limited_ratio) == (0.1, None)
    assert b"secret" not in msgspec.json.encode(asked)


def test_strategy_that_asks_somebody_has_no_standing_of_its_own() -> None:
    view = builders.group_view(*(builders.view(),) * 3)

    assert standing(group(Says({"a/m": 1.0})), view) is None


# --- policy services, and answers in general


@pytest.mark.parametrize(
    ("told", "expected", "reason"),
    [
        ({"b/m": 2.0}, "b/m", None),
        (FallbackReason.NO_ANSWER, "a/m", FallbackReason.NO_ANSWER),
        (None, "a/m", FallbackReason.NOT_ASKED),
    ],
)
def test_what_a_service_has_said_is_an_argument_of_the_decision(
    told: Told | None, expected: str, reason: FallbackReason | None
) -> None:
    of = builders.group("chat", ("a/m", 1_000_000), "b/m", strategy="external")
    ask = structs.replace(builders.ask(), told=told)
    view = builders.group_view(builders.view(), builders.view())

    found = decide(ask, of, view, rng=Random(1), lengths=builders.lengths(of))

    assert picked(found) == expected
    assert found.scores is not None
    assert found.scores.fallback == reason


def test_plugin_that_was_never_loaded_leaves_it_to_the_weights() -> None:
    found = decided(group(None))

    assert found.scores is not None
    assert found.scores.fallback is FallbackReason.NOT_ASKED


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ({"a/m": 1, "b/m": 0.5}, {"a/m": 1.0, "b/m": 0.5}),
        (["b/m", "a/m"], {"b/m": 1.0, "a/m": 0.5}),
        (("b/m",), {"b/m": 1.0}),
        ({}, {}),
        ([], {}),
    ],
)
def test_scores_and_orders_are_read(answer: object, scores: dict[str, float]) -> None:
    assert read_answer(answer, ["a/m", "b/m"]) == scores


@pytest.mark.parametrize(
    "answer",
    [
        None, 1.0, "a/m", b"a/m", {"a/m"}, ["a/m", "a/m"], ["c/m"], {"c/m": 1}, {1: 1}, {"a/m": None}, {"a/m": True},
        {"a/m": "1"}, {"a/m": -0.1}, {"a/m": math.nan}, {"a/m": math.inf}, {"a/m": 10**400},
    ],
)  # fmt: skip
def test_nonsense_is_refused_without_being_quoted(answer: object) -> None:
    with pytest.raises(BadAnswerError) as raised:
        read_answer(answer, ["a/m", "b/m"])

    assert "/m" not in str(raised.value)
