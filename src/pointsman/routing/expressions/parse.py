"""Text to tree. Uses the parser of Python, and takes from its result only what is listed here."""

import ast
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from types import MappingProxyType

from pointsman.routing.expressions import tree
from pointsman.routing.expressions.tree import ExpressionError, Node

_SPLIT = "Write several terms instead."
_USE_LIST = "Use numbers, scores, + - * / **, comparisons, and, or, not, if-else, and the functions."
_FUNCTIONS = f"Functions are {', '.join(tree.ARITY)}."

_SCORES = tuple([name.value for name in tree.ScoreName])
_CALLS: Mapping[str, str] = MappingProxyType(
    {
        "min": "min(a, b)",
        "max": "max(a, b)",
        "abs": "abs(a)",
        "clamp": "clamp(a, least, most)",
        "sqrt": "sqrt(a)",
        "log1p": "log1p(a)",
        "exp": "exp(a)",
        "sigmoid": "sigmoid(a)",
        "lerp": "lerp(start, end, part)",
        "step": "step(edge, a)",
        "coalesce": "coalesce(latency_score, 0.2)",
    }
)

_BINARY: Mapping[type[ast.operator], str] = MappingProxyType(
    {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
)
_COMPARED: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
)
_NO_OPERATOR: Mapping[type[ast.AST], tuple[str, str]] = MappingProxyType(
    {
        ast.BitXor: ("`^`", "Write ** for a power."),
        ast.BitAnd: ("`&`", "Write and."),
        ast.BitOr: ("`|`", "Write or."),
        ast.Invert: ("`~`", "Write not."),
        ast.Mod: ("`%`", _USE_LIST),
        ast.FloorDiv: ("`//`", "Write / for a quotient."),
        ast.MatMult: ("`@`", "Write * for a product."),
        ast.LShift: ("`<<`", _USE_LIST),
        ast.RShift: ("`>>`", _USE_LIST),
        ast.Is: ("`is`", "Write == to compare."),
        ast.IsNot: ("`is not`", "Write != to compare."),
        ast.In: ("`in`", "Compare with == and or."),
        ast.NotIn: ("`not in`", "Compare with != and and."),
    }
)
_NO_PART: Mapping[type[ast.AST], str] = MappingProxyType(
    {
        ast.Attribute: "`.` reaches into something, and scores have no parts",
        ast.Subscript: "`[...]` reaches into something, and scores have no parts",
        ast.Lambda: "functions cannot be made here",
        ast.ListComp: "loops are not possible",
        ast.SetComp: "loops are not possible",
        ast.DictComp: "loops are not possible",
        ast.GeneratorExp: "loops are not possible",
        ast.List: "lists are not possible",
        ast.Tuple: "only one value is possible, and a comma makes several",
        ast.Set: "sets are not possible",
        ast.Dict: "mappings are not possible",
        ast.JoinedStr: "texts are not possible",
        ast.NamedExpr: "nothing can be assigned",
        ast.Starred: "`*` cannot spread arguments",
    }
)


def parse(text: str) -> Node:
    """The tree of an expression that gives a number. Raises ExpressionError."""
    _check_text(text)
    kept = text.strip().replace("\n", " ")
    reader = _Reader(len(text) - len(text.lstrip()))
    try:
        found = ast.parse(kept, mode="eval").body
    except SyntaxError as error:
        raise reader.refused(f"cannot be read ({error.msg})", _USE_LIST, (error.offset or 1) - 1) from None
    except (ValueError, MemoryError, RecursionError):
        raise reader.refused("is nested too deeply to be read", _SPLIT) from None
    node = reader.number(found, 1)
    count = sum(1 for _ in tree.walk(node))
    if count > tree.MAX_NODES:
        raise reader.refused(f"has {count} parts, and {tree.MAX_NODES} are the most", _SPLIT)
    return node


def _check_text(text: str) -> None:
    if len(text) > tree.MAX_BYTES:
        raise ExpressionError(f"has {len(text)} characters, and {tree.MAX_BYTES} are the most", _SPLIT)
    if not text.strip():
        raise ExpressionError("is empty", "Write what a target scores, for example cost_score.")
    for place, character in enumerate(text):
        if character != "\n" and not " " <= character <= "~":
            raise ExpressionError(f"character U+{ord(character):04X} is not possible", "Write plain ASCII.", place)
        if character == "#":
            raise ExpressionError("`#` begins a comment", "Write comments outside of the expression.", place)


class _Reader:
    """Reads nodes of Python's parser. `offset`: blanks that the text begins with."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def refused(self, message: str, fix: str, at: int = 0) -> ExpressionError:
        return ExpressionError(message, fix, self._offset + max(at, 0))

    def number(self, node: ast.expr, depth: int) -> Node:
        found = self._read(node, depth)
        if found.is_condition:
            fix = "Make a number of it, for example (1 if cost_score > 0.5 else 0)."
            raise ExpressionError("is true or false, where a number is needed", fix, found.start)
        return found

    def _condition(self, node: ast.expr, depth: int) -> Node:
        found = self._read(node, depth)
        if not found.is_condition:
            fix = "Compare it with something, for example cost_score > 0.5."
            raise ExpressionError("is a number, where something true or false is needed", fix, found.start)
        return found

    def _read(self, node: ast.expr, depth: int) -> Node:
        if depth > tree.MAX_DEPTH:
            raise self.refused(f"is nested more than {tree.MAX_DEPTH} deep", _SPLIT, node.col_offset)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node, depth)
            case ast.UnaryOp():
                return self._unary(node, depth)
            case ast.BoolOp():
                op = "and" if isinstance(node.op, ast.And) else "or"
                return self._node(op, node, [self._condition(each, depth + 1) for each in node.values])
            case ast.Compare():
                return self._compared(node, depth)
            case ast.IfExp():
                test = self._condition(node.test, depth + 1)
                sides = [self.number(node.body, depth + 1), self.number(node.orelse, depth + 1)]
                return self._node(tree.IF, node, [test, *sides])
            case ast.Call():
                return self._call(node, depth)
            case _:
                raise self.refused(_NO_PART.get(type(node), "is not possible"), _USE_LIST, node.col_offset)

    def _node(self, op: str, node: ast.expr, below: Sequence[Node] = (), number: float = 0.0, name: str = "") -> Node:
        start, end = self._offset + node.col_offset, self._offset + (node.end_col_offset or 0)
        return Node(op, start, end, tuple(below), number, name)

    def _constant(self, node: ast.Constant) -> Node:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused("is no number", "Write a number, for example 1 or 0.5.", node.col_offset)
        try:
            number = float(value)
        except OverflowError:  # a whole number that no float can hold
            number = math.inf
        if number > tree.MAX_NUMBER:
            raise self.refused("is too large a number", f"Write {tree.MAX_NUMBER:g} at most.", node.col_offset)
        return self._node(tree.NUMBER, node, number=number)

    def _name(self, node: ast.Name) -> Node:
        if node.id in _SCORES:
            return self._node(tree.NAME, node, name=node.id)
        if node.id in tree.ARITY:
            fix = f"Write {node.id}(...) with what it is to work on."
            raise self.refused(f"`{node.id}` is a function", fix, node.col_offset)
        raise self.refused(f"there is no score `{node.id}`", _nearest(node.id, _SCORES, "Scores are"), node.col_offset)

    def _binary(self, node: ast.BinOp, depth: int) -> Node:
        op = _BINARY.get(type(node.op))
        if op is None:
            shown, fix = _NO_OPERATOR[type(node.op)]
            raise self.refused(f"there is no operator {shown}", fix, node.left.end_col_offset or 0)
        below = [self.number(node.left, depth + 1), self.number(node.right, depth + 1)]
        if op == "**":
            self._check_exponent(below[1])
        return self._node(op, node, below)

    def _check_exponent(self, node: Node) -> None:
        number = -node.below[0].number if node.op == tree.NEGATED else node.number
        is_written_out = node.op == tree.NUMBER or (node.op == tree.NEGATED and node.below[0].op == tree.NUMBER)
        if not is_written_out or abs(number) > tree.MAX_EXPONENT:
            message = f"an exponent must be a number from -{tree.MAX_EXPONENT:g} to {tree.MAX_EXPONENT:g}"
            raise ExpressionError(message, "Write such a number, or use exp(...).", node.start)

    def _unary(self, node: ast.UnaryOp, depth: int) -> Node:
        match node.op:
            case ast.Not():
                return self._node("not", node, [self._condition(node.operand, depth + 1)])
            case ast.USub():
                return self._node(tree.NEGATED, node, [self.number(node.operand, depth + 1)])
            case ast.UAdd():
                return self.number(node.operand, depth + 1)
            case _:
                shown, fix = _NO_OPERATOR[type(node.op)]
                raise self.refused(f"there is no operator {shown}", fix, node.col_offset)

    def _compared(self, node: ast.Compare, depth: int) -> Node:
        """`a < b < c` is two comparisons."""
        for op, left in zip(node.ops, [node.left, *node.comparators[:-1]], strict=True):
            if type(op) not in _COMPARED:
                shown, fix = _NO_OPERATOR[type(op)]
                raise self.refused(f"there is no operator {shown}", fix, left.end_col_offset or 0)
        sides = [self.number(each, depth + 1) for each in (node.left, *node.comparators)]
        pairs = [
            self._node(_COMPARED[type(op)], node, pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)
        ]
        return pairs[0] if len(pairs) == 1 else self._node("and", node, pairs)

    def _call(self, node: ast.Call, depth: int) -> Node:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in tree.ARITY:
            if not name:
                raise self.refused("only functions of the list can be called", _FUNCTIONS, node.col_offset)
            raise self.refused(
                f"there is no function `{name}`", _nearest(name, tuple(tree.ARITY), "Functions are"), node.col_offset
            )
        if node.keywords:
            raise self.refused(f"{name}() takes no named arguments", "Leave the name out.", node.col_offset)
        fewest, most = tree.ARITY[name]
        if not fewest <= len(node.args) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} or more"
            message = f"{name}() takes {wanted} argument{'s' * (wanted != '1')}, not {len(node.args)}"
            raise self.refused(message, f"Write {_CALLS[name]}.", node.col_offset)
        below = [self.number(each, depth + 1) for each in node.args]
        if name == "coalesce":
            _check_known(below)
        return self._node(name, node, below)


def _check_known(below: Sequence[Node]) -> None:
    """Only a score may be unknown, so that only a score needs a stand-in."""
    for each in below[:-1]:
        if each.op != tree.NAME:
            raise ExpressionError(
                "coalesce() takes scores, and a stand-in as the last one", f"Write {_CALLS['coalesce']}.", each.start
            )


def _nearest(name: str, names: Sequence[str], otherwise: str) -> str:
    close = get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]}?" if close else f"{otherwise} {', '.join(names)}."
