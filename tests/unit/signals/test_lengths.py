"""Estimates of a request's tokens, through the board."""

from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Script
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import LengthView
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders
from tests.unit.signals.pausing import Draws

NOW = 1_000.0
GROUP = builders.group("chat", "a/m", "b/n", strategy="cost")
TWIN = builders.group("twin", "c/m", strategy="cost")


def expected(board: SignalBoard, group: ModelGroup = GROUP, **facts: Any) -> LengthView:
    return board.expected(group, builders.ask(**{"text_chars": 4_000, "script": Script.LATIN, **facts}), NOW)


def learned(usage: Usage, times: int = 50, **facts: Any) -> SignalBoard:
    """A board that has seen answers of a/m, all of them equal."""
    board = SignalBoard(Draws())
    asked = builders.ask(**{"text_chars": 4_000, "script": Script.LATIN, **facts})
    for _ in range(times):
        board.learn(GROUP, GROUP.members[0].target, asked, usage, NOW)
    return board


@pytest.mark.req("O-023")
@pytest.mark.trap("4")
def test_first_estimate_is_the_usual_one() -> None:
    board = SignalBoard(Draws())

    assert expected(board) == LengthView((1_000, 1_000), 200)
    assert expected(board, script=Script.CJK).input_tokens == (2_667, 2_667)


def test_text_that_was_not_counted_is_taken_by_its_bytes() -> None:
    view = expected(SignalBoard(Draws()), text_chars=None, script=None, body_bytes=400)

    assert view.input_tokens == (100, 100)


def test_each_model_has_a_ratio_of_its_own() -> None:
    view = expected(learned(Usage(2_000, 200)))

    assert view.input_tokens == (pytest.approx(2_000, rel=0.02), 1_000)


def test_ratio_of_a_model_counts_for_every_provider_and_group_that_has_it() -> None:
    assert expected(learned(Usage(2_000, 200)), TWIN).input_tokens == (pytest.approx(2_000, rel=0.02),)


def test_scripts_are_learned_apart() -> None:
    board = learned(Usage(2_000, 200))

    assert expected(board, script=Script.CJK).input_tokens == (2_667, 2_667)


def test_answers_are_learned_by_group() -> None:
    board = learned(Usage(1_000, 50))

    assert expected(board).output_tokens < 80
    assert expected(board, TWIN).output_tokens == 200


@pytest.mark.parametrize(("cap", "output_tokens"), [(100, 100), (5_000, 200), (None, 200), (0, 200), (-3, 200)])
def test_callers_cap_bounds_the_answer(cap: int | None, output_tokens: int) -> None:
    assert expected(SignalBoard(Draws()), max_output_tokens=cap).output_tokens == output_tokens


@pytest.mark.parametrize("usage", [Usage(), Usage(None, 5_000)])
def test_answer_without_a_count_teaches_nothing(usage: Usage) -> None:
    assert expected(learned(usage)) == LengthView((1_000, 1_000), 200)


def test_count_of_the_input_alone_teaches_the_ratio() -> None:
    view = expected(learned(Usage(2_000)))

    assert (view.input_tokens[0] > 1_900, view.output_tokens) == (True, 200)


def test_estimating_changes_nothing() -> None:
    board = learned(Usage(2_000, 50))

    assert expected(board) == expected(board)


@pytest.mark.bug("L-03")
def test_models_and_groups_that_nobody_names_any_more_are_forgotten() -> None:
    board = learned(Usage(2_000, 50))

    board.keep([TWIN])

    assert expected(board, TWIN).input_tokens[0] > 1_900
    assert expected(board).output_tokens == 200
    board.keep([])
    assert expected(board) == LengthView((1_000, 1_000), 200)


@pytest.mark.req("R-034")
def test_what_was_learned_goes_on_under_another_configuration() -> None:
    board = learned(Usage(2_000, 50))
    before = expected(board)

    board.keep([builders.group("chat", "a/m", "b/n", strategy="cost")])

    assert expected(board) == before
