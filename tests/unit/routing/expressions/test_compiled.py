"""Values, addends and bounds of compiled expressions."""

import pytest

from pointsman.routing.expressions.bounds import Bounds, bounds
from pointsman.routing.expressions.compiled import compiled
from pointsman.routing.expressions.parse import parse
from pointsman.routing.expressions.tree import ExpressionError


def value(text: str, **scores: float | None) -> float | None:
    """Of an expression; a score that is not known has the value 0.5."""
    expression = compiled(text)
    neutral = [0.5 if (known := scores[name]) is None else known for name in expression.names]
    parts = expression.parts([*neutral, *[scores[name] for name in expression.known]])
    return None if parts is None else parts[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-(1 - 3) ** 2 + 10", 6.0),
        ("2 ** -1 + 4 ** 0.5", 2.5),
        ("min(3, 1, 2) + max(3, 1, 2)", 4.0),
        ("abs(1 - 3) + clamp(7, 0, 2)", 4.0),
        ("sqrt(9) + log1p(0) + exp(0) + sigmoid(0)", 4.5),
        ("sigmoid(-700) + 1", 1.0),
        ("lerp(2, 4, 0.25) + step(1, 1) + step(2, 1)", 3.5),
        ("1 if 1 < 2 <= 2 else 5", 1.0),
        ("1 if 1 > 2 or not (3 >= 3 and 1 != 1) else 5", 1.0),
        ("1 if 1 == 2 else 5", 5.0),
    ],
)
def test_operators_and_functions_do_what_they_say(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected)


def test_first_known_score_counts() -> None:
    text = "coalesce(latency_score, throughput_score, 0.2)"

    assert value(text, latency_score=0.9, throughput_score=0.4) == 0.9
    assert value(text, latency_score=None, throughput_score=0.4) == 0.4
    assert value(text, latency_score=None, throughput_score=None) == 0.2


@pytest.mark.bug("N-11")
@pytest.mark.parametrize(
    "text",
    [
        "clamp(1 / cost_score, 0, 1)",
        "clamp(cost_score ** -1, 0, 1)",
        "1 + sqrt(cost_score - 0.5)",
        "1 + (cost_score - 0.5) ** 0.5",
        "5 + log1p(cost_score - 1)",
    ],
)
def test_what_has_no_value_is_undefined_and_never_zero(text: str) -> None:
    assert value(text, cost_score=0.0) is None
    assert value(text, cost_score=1.0) is not None


def test_addends_are_told_as_they_are_written_and_add_up() -> None:
    expression = compiled("0.45 * cost_score - 0.2*load_score + (latency_score\n + 1)")

    parts = expression.parts((0.8, 0.5, 0.25))

    assert expression.names == ("cost_score", "latency_score", "load_score")
    assert expression.addends == ("0.45 * cost_score", "-(0.2*load_score)", "latency_score + 1")
    assert parts == (pytest.approx(1.81), pytest.approx(0.36), pytest.approx(-0.05), 1.5)


def test_long_addend_is_shown_in_part() -> None:
    (first, _) = compiled(f"clamp({' + '.join(['cost_score'] * 9)}, 0, 1) + 1").addends

    assert len(first) == 60
    assert first.endswith("...")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("cost_score - 2 * load_score", -2.0, 1.0),
        ("(cost_score - 0.5) * (load_score - 1)", -0.5, 0.5),
        ("(cost_score - 0.5) ** 2", 0.0, 0.25),
        ("abs(cost_score - 0.75)", 0.0, 0.75),
        ("1 / (1 + cost_score)", 0.5, 1.0),
        ("lerp(1, 3, cost_score)", 1.0, 3.0),
        ("2 if cost_score > 0.5 else load_score", 0.0, 2.0),
        ("2 if cost_score > 5 else load_score", 0.0, 1.0),
        ("coalesce(cost_score, 3)", 0.0, 3.0),
        ("sqrt(cost_score - 0.5)", 0.0, 0.5**0.5),
    ],
)
def test_bounds_are_those_of_all_scores(text: str, low: float, high: float) -> None:
    found = bounds(parse(text))

    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("cost_score < 2", 1.0, 1.0),
        ("cost_score > 2", 0.0, 0.0),
        ("cost_score >= 0", 1.0, 1.0),
        ("cost_score <= 0.5", 0.0, 1.0),
        ("cost_score == 2", 0.0, 0.0),
        ("1 != 2", 1.0, 1.0),
        ("not cost_score < 2", 0.0, 0.0),
        ("cost_score < 2 and load_score < 0.5", 0.0, 1.0),
        ("cost_score < 2 or load_score < 0.5", 1.0, 1.0),
    ],
)
def test_conditions_that_always_or_never_hold_are_known(text: str, low: float, high: float) -> None:
    test = parse(f"1 if {text} else 0").below[0]

    assert bounds(test) == Bounds(low, high)


def test_compiled_expression_can_reach_nothing() -> None:
    function = compiled("clamp(cost_score, 0, 1)").function

    reached = function.__globals__  # type: ignore[attr-defined]

    assert reached["__builtins__"] == {}
    assert all(callable(found) for name, found in reached.items() if name != "__builtins__")
    with pytest.raises(ExpressionError):
        compiled("divided(cost_score, 2)")  # names of ours are none of the language
