"""An expression that is ready to be asked: some 0.4 microseconds for a sum of four scores.

The function is written anew from the tree, out of its numbers, the names of scores and the listed functions. It knows
no other name, so that there is nothing it could reach.
"""

from collections.abc import Callable, Sequence
from types import CodeType, FunctionType

from pointsman.domain.derived import derived
from pointsman.domain.value import Value
from pointsman.routing.expressions import tree
from pointsman.routing.expressions.arithmetic import CALLED, UndefinedError
from pointsman.routing.expressions.bounds import bounds
from pointsman.routing.expressions.parse import parse
from pointsman.routing.expressions.tree import ExpressionError, Node

MAX_VALUE = 1e6  # of a whole expression: more comes of a quotient of nearly 0
_KNOWN = "known_"  # before the name of a score: as it was measured, None if it was not
_LONG = 60  # characters of an addend that people still read


class Expression(Value, eq=False):
    """One compiled expression."""

    text: str
    most: float  # no value is above it
    names: tuple[str, ...]  # of scores; what is not known has a neutral value there
    known: tuple[str, ...]  # of scores that are asked for as they are: None, if not known
    addends: tuple[str, ...]  # what the value is the sum of, as written
    function: Callable[..., tuple[float, ...]]

    def parts(self, arguments: Sequence[float | None]) -> tuple[float, ...] | None:
        """The value, and each addend; None: there is no value for these scores. `names` come first, then `known`."""
        try:
            return self.function(*arguments)
        except UndefinedError:
            return None


@derived(maxsize=4096)
def compiled(text: str) -> Expression:
    """Raises ExpressionError if it is not sound."""
    node = parse(text)
    found = bounds(node)
    if found.high > MAX_VALUE:
        fix = "Add something to what is divided by, or write clamp(..., 0, 1) around the quotient."
        raise ExpressionError(f"may get as high as {found.high:.3g}", fix)
    if found.high <= 0.0:
        raise ExpressionError("can never be above 0", "Turn the sign: the highest score wins.")
    names = tuple(sorted({each.name for each in tree.walk(node) if each.op == tree.NAME}))
    known = tuple(sorted({each.name for found in _stand_ins(node) for each in found.below[:-1]}))
    addends = tree.addends(node)
    shown = tuple([_shown(text, sign, each) for sign, each in addends])
    return Expression(text, found.high, names, known, shown, _function(names, known, addends))


def _stand_ins(node: Node) -> list[Node]:
    return [each for each in tree.walk(node) if each.op == "coalesce"]


def _shown(text: str, sign: str, node: Node) -> str:
    written = " ".join(text[node.start : node.end].split())
    kept = written if len(written) <= _LONG else written[: _LONG - 3] + "..."
    return kept if sign == "+" else f"-({kept})"


def _function(
    names: Sequence[str], known: Sequence[str], addends: Sequence[tuple[str, Node]]
) -> Callable[..., tuple[float, ...]]:
    """Gives the sum, and then each addend with its sign."""
    parameters = ", ".join([*names, *[_KNOWN + name for name in known]])
    if len(addends) == 1:
        results = f"({_source(addends[0][1])},)"
    else:
        parts = [f"(part{number} := {_source(node)})" for number, (_, node) in enumerate(addends)]
        total = parts[0] + "".join([f" {sign} {part}" for (sign, _), part in zip(addends[1:], parts[1:], strict=True)])
        kept = [f"{sign}part{number}" for number, (sign, _) in enumerate(addends)]
        results = f"({total}, {', '.join(kept).replace('+', '')})"
    code = compile(f"lambda {parameters}: {results}", "<score expression>", "eval")
    inner = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return FunctionType(inner, {"__builtins__": {}, **CALLED})


_INFIX = frozenset((*tree.ARITHMETIC, *tree.COMPARISONS, "and", "or")) - {"/", "**"}
_CALL = {"/": "divided", "**": "power"}


def _source(node: Node) -> str:
    """Python for a node."""
    if node.op == tree.NUMBER:
        return repr(node.number)
    if node.op == tree.NAME:
        return tree.ScoreName(node.name).value
    below = [_source(each) for each in node.below]
    if node.op in _INFIX:
        return f"({f' {node.op} '.join(below)})"
    if node.op == tree.IF:
        return f"({below[1]} if {below[0]} else {below[2]})"
    if node.op == "coalesce":
        return _first_known(node, below)
    if node.op in {"not", tree.NEGATED}:
        return f"({'not' if node.op == 'not' else '-'} {below[0]})"
    return f"{_CALL.get(node.op, node.op)}({', '.join(below)})"


def _first_known(node: Node, below: Sequence[str]) -> str:
    found = below[-1]
    for each in reversed(node.below[:-1]):
        found = f"({_KNOWN}{each.name} if {_KNOWN}{each.name} is not None else {found})"
    return found
