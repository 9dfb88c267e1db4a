"""Between which numbers every part of an expression lies, whatever the scores are (interval analysis).

It proves at load time that no value becomes infinite, and says how high a term may get.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pointsman.domain.value import Leaf
from pointsman.routing.expressions import arithmetic, tree
from pointsman.routing.expressions.arithmetic import LARGEST, LEAST_DIVISOR
from pointsman.routing.expressions.tree import ExpressionError, Node


class Bounds(Leaf):
    """The least and the most that a value can be; of a condition 0 for false, 1 for true."""

    low: float
    high: float

    @property
    def is_fixed(self) -> bool:
        return self.low == self.high


_SCORE = Bounds(0.0, 1.0)
_TRUE, _FALSE, _OPEN = Bounds(1.0, 1.0), Bounds(0.0, 0.0), Bounds(0.0, 1.0)


def bounds(node: Node) -> Bounds:
    """Of a node. Raises ExpressionError if it has none, or no value at all."""
    if node.op == tree.NUMBER:
        return Bounds(node.number, node.number)
    if node.op == tree.NAME:
        return _SCORE
    below = [bounds(each) for each in node.below]
    if node.op in {"/", "**"}:
        found = _quotient(node, below) if node.op == "/" else _power(node, below)
    else:
        _check_domain(node, below)
        found = _RULES[node.op](below)
    if not (found.low > -LARGEST and found.high < LARGEST):
        raise ExpressionError("may get larger than any number that makes sense", "Write smaller numbers.", node.start)
    return found


def _check_domain(node: Node, below: Sequence[Bounds]) -> None:
    if node.op == "sqrt" and below[0].high < 0.0:
        raise ExpressionError("is the root of something that is always negative", "Turn its sign.", node.start)
    if node.op == "log1p" and below[0].high <= -1.0:
        raise ExpressionError("is the logarithm of nothing above 0", "Raise its argument above -1.", node.start)
    if node.op == "exp" and below[0].high > _MAX_EXP:
        raise ExpressionError(
            f"exp() of more than {_MAX_EXP:g} is no number that makes sense", "Write smaller numbers.", node.start
        )
    if node.op == "clamp" and below[1].low > below[2].high:
        raise ExpressionError("clamp() has its limits the wrong way round", "Write clamp(a, least, most).", node.start)


_MAX_EXP = math.floor(math.log(LARGEST))


def _quotient(node: Node, below: Sequence[Bounds]) -> Bounds:
    number, by = below
    divisors = _split(by, LEAST_DIVISOR)
    if not divisors:
        raise ExpressionError("always divides by 0", "Divide by something else.", node.start)
    return _hull([end / divisor for end in (number.low, number.high) for divisor in divisors])


def _power(node: Node, below: Sequence[Bounds]) -> Bounds:
    base, exponent = below[0], below[1].low
    points = _split(base, LEAST_DIVISOR) if exponent < 0.0 else _split(base, 0.0)
    if exponent != math.floor(exponent):
        points = [point for point in points if point >= 0.0]
    if not points:
        raise ExpressionError(
            "has no value: no such power exists", "Change the exponent, or what is raised.", node.start
        )
    return _hull([math.pow(point, exponent) for point in points])


def _split(of: Bounds, gap: float) -> list[float]:
    """The ends of what is left of an interval without what is nearer to 0 than `gap`; with a gap of 0 also 0 itself."""
    inner = (-gap, gap) if of.low < 0.0 < of.high or gap else ()
    return [point for point in {of.low, of.high, *inner} if abs(point) >= gap and of.low <= point <= of.high]


def _hull(values: Sequence[float]) -> Bounds:
    return Bounds(min(values), max(values))


def _sum(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    return Bounds(left.low + right.low, left.high + right.high)


def _difference(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    return Bounds(left.low - right.high, left.high - right.low)


def _product(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    return _hull([a * b for a in (left.low, left.high) for b in (right.low, right.high)])


def _lerp(below: Sequence[Bounds]) -> Bounds:
    start, end, part = below
    return _sum([start, _product([_difference([end, start]), part])])


def _abs(below: Sequence[Bounds]) -> Bounds:
    (of,) = below
    ends = sorted([abs(of.low), abs(of.high)])
    return Bounds(0.0 if of.low < 0.0 < of.high else ends[0], ends[1])


def _rising(function: Callable[[float], float], least: float = -math.inf) -> Callable[[Sequence[Bounds]], Bounds]:
    return lambda below: Bounds(function(max(below[0].low, least)), function(below[0].high))


def _least(below: Sequence[Bounds]) -> Bounds:
    return Bounds(min(each.low for each in below), min(each.high for each in below))


def _most(below: Sequence[Bounds]) -> Bounds:
    return Bounds(max(each.low for each in below), max(each.high for each in below))


def _clamp(below: Sequence[Bounds]) -> Bounds:
    number, least, most = below
    return _least([_most([number, least]), most])


def _any_of(below: Sequence[Bounds]) -> Bounds:
    return Bounds(min(each.low for each in below), max(each.high for each in below))


def _less(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    return _TRUE if left.high < right.low else _FALSE if left.low >= right.high else _OPEN


def _less_or_equal(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    return _TRUE if left.high <= right.low else _FALSE if left.low > right.high else _OPEN


def _equal(below: Sequence[Bounds]) -> Bounds:
    left, right = below
    if left.high < right.low or right.high < left.low:
        return _FALSE
    return _TRUE if left.is_fixed and left == right else _OPEN


def _negated(below: Sequence[Bounds]) -> Bounds:
    return Bounds(-below[0].high, -below[0].low)


def _not(below: Sequence[Bounds]) -> Bounds:
    return Bounds(1.0 - below[0].high, 1.0 - below[0].low)


def _either(below: Sequence[Bounds]) -> Bounds:
    test, if_true, if_false = below
    return _any_of([if_true, if_false]) if not test.is_fixed else if_true if test.low else if_false


_RULES: Mapping[str, Callable[[Sequence[Bounds]], Bounds]] = MappingProxyType(
    {
        "+": _sum,
        "-": _difference,
        "*": _product,
        "min": _least,
        "max": _most,
        "abs": _abs,
        "clamp": _clamp,
        "sqrt": _rising(math.sqrt, 0.0),
        "log1p": _rising(math.log1p, math.nextafter(-1.0, 0.0)),
        "exp": _rising(math.exp),
        "sigmoid": _rising(arithmetic.sigmoid),
        "lerp": _lerp,
        "step": _less_or_equal,
        "coalesce": _any_of,
        "<": _less,
        "<=": _less_or_equal,
        ">": lambda below: _less(below[::-1]),
        ">=": lambda below: _less_or_equal(below[::-1]),
        "==": _equal,
        "!=": lambda below: _not([_equal(below)]),
        "and": _least,
        "or": _most,
        "not": _not,
        tree.NEGATED: _negated,
        tree.IF: _either,
    }
)
