"""Expressions that are legal, and do not what was meant."""

import pytest

from pointsman.routing.expressions.advice import advice


@pytest.mark.req("D-039")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("complexity_score + 1", "is the same for every target, so it decides nothing"),
        ("0.5", "is the same for every target, so it decides nothing"),
        ("cost_score + 3", "`3` is the same for every target, so it decides nothing"),
        ("cost_score if load_score < 2 else 0", "`load_score < 2` is always true"),
        ("cost_score if load_score > 2 else 1", "`load_score > 2` is never true"),
        ("cost_score + 0.001 * load_score", "`0.001 * load_score` can hardly ever decide"),
    ],
)
def test_what_decides_nothing_is_said(text: str, message: str) -> None:
    assert any(message in found for found, _ in advice(text))


def test_sound_expression_needs_no_advice() -> None:
    assert list(advice("0.5 * cost_score + (0.5 if load_score > 0.5 else 0.1 * complexity_score)")) == []
