"""Expressions: whatever is written, the value is what the text says, finite, and within its bounds."""

import ast
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.routing.expressions.bounds import bounds
from pointsman.routing.expressions.compiled import compiled
from pointsman.routing.expressions.parse import parse
from pointsman.routing.expressions.tree import ExpressionError, ScoreName
from tests.properties.thorough import thorough

THOROUGH = thorough(300)
NAMES = [name.value for name in ScoreName]
_scores = st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.5, 1.0])
_numbers = st.sampled_from(["0", "1", "0.5", "2", "0.25", "3", "1e-12", "100"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    test = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner).map(" ".join)
    logic = test | st.tuples(test, st.sampled_from(["and", "or"]), test).map(" ".join) | test.map("not {}".format)
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, st.sampled_from(["2", "-1", "0.5", "3", "-0.5"])).map("({0[0]}) ** {0[1]}".format),
        inner.map("(-{})".format),
        pair.map("min({0[0]}, {0[1]})".format),
        pair.map("max({0[0]}, {0[1]})".format),
        pair.map("step({0[0]}, {0[1]})".format),
        inner.map("abs({})".format),
        inner.map("sqrt({})".format),
        inner.map("log1p({})".format),
        inner.map("exp({})".format),
        inner.map("sigmoid({})".format),
        st.tuples(inner, inner, inner).map("clamp({0[0]}, {0[1]}, {0[2]})".format),
        st.tuples(inner, inner, inner).map("lerp({0[0]}, {0[1]}, {0[2]})".format),
        st.tuples(inner, logic, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(st.sampled_from(NAMES), inner).map("coalesce({0[0]}, {0[1]})".format),
    )


expressions = st.recursive(st.sampled_from(NAMES) | _numbers, _grown, max_leaves=12)
known_scores = st.fixed_dictionaries({name: _scores | st.none() for name in NAMES})


class NoValueError(ArithmeticError):
    """No such number."""


def told(node: Any, scores: dict[str, float | None]) -> Any:
    """What an expression means, read off the syntax tree of Python: slow and plain."""
    match node:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id=name):
            return 0.5 if scores[name] is None else scores[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -told(inner, scores)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not told(inner, scores)
        case ast.BinOp(op=op, left=left, right=right):
            return _binary(op, told(left, scores), told(right, scores))
        case ast.BoolOp(op=op, values=values):
            return (all if isinstance(op, ast.And) else any)([told(each, scores) for each in values])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return told(body if told(test, scores) else orelse, scores)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(op, told(left, scores), told(right, scores))
    return _call_told(node, scores)


def _call_told(node: Any, scores: dict[str, float | None]) -> float:
    name, args = node.func.id, node.args
    if name == "coalesce":
        known = scores[args[0].id]
        return float(told(args[1], scores)) if known is None else known
    return _called(name, [told(each, scores) for each in args])


def _binary(op: ast.operator, left: float, right: float) -> float:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            if abs(right) < 1e-9:
                raise NoValueError
            return left / right
    if (right < 0.0 and abs(left) < 1e-9) or (left < 0.0 and not right.is_integer()):
        raise NoValueError
    return math.pow(left, right)


def _compared(op: ast.cmpop, left: float, right: float) -> bool:
    signs = {ast.Lt: (-1,), ast.LtE: (-1, 0), ast.Gt: (1,), ast.GtE: (0, 1), ast.Eq: (0,), ast.NotEq: (-1, 1)}
    return (left > right) - (left < right) in signs[type(op)]


def _called(name: str, args: list[float]) -> float:
    first = args[0]
    if (name == "sqrt" and first < 0.0) or (name == "log1p" and first <= -1.0):
        raise NoValueError
    match name:
        case "min" | "max":
            return sorted(args)[0 if name == "min" else -1]
        case "clamp":
            return min(max(first, args[1]), args[2])
        case "step":
            return float(args[1] >= first)
        case "lerp":
            return first + (args[1] - first) * args[2]
        case "sigmoid":
            return 0.5 * (1.0 + math.tanh(first / 2.0))
        case "abs":
            return math.fabs(first)
    return float(getattr(math, name)(first))


@pytest.mark.req("D-039")
@pytest.mark.bug("N-11")
@THOROUGH
@given(text=expressions, scores=known_scores)
def test_value_is_what_the_text_says_finite_and_within_bounds(text: str, scores: dict[str, float | None]) -> None:
    try:
        expression = compiled(text)
    except ExpressionError:
        return
    neutral = [0.5 if (known := scores[name]) is None else known for name in expression.names]

    parts = expression.parts([*neutral, *[scores[name] for name in expression.known]])

    try:
        expected = told(ast.parse(text, mode="eval").body, scores)
    except NoValueError:
        assert parts is None
        return
    assert parts is not None
    assert all(map(math.isfinite, parts))
    assert parts[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    found = bounds(parse(text))
    slack = 1e-9 * max(1.0, abs(found.low), abs(found.high))
    assert found.low - slack <= parts[0] <= found.high + slack
    if len(parts) > 1:
        assert math.fsum(parts[1:]) == pytest.approx(parts[0], rel=1e-9, abs=1e-6)


@pytest.mark.bug("N-11")
@THOROUGH
@given(text=st.text(st.characters(codec="utf-8"), max_size=60) | st.text("()[]{}.,+-*/<>=:'\"#\\ a1_e\n", max_size=80))
def test_whatever_is_written_is_an_expression_or_refused_with_a_place_and_a_fix(text: str) -> None:
    try:
        most, refused = compiled(text).most, None
    except ExpressionError as error:
        most, refused = 0.0, error

    assert math.isfinite(most)
    assert refused is None or (str(refused).startswith("character ") and refused.fix.endswith((".", "?")))
