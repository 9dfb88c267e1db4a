"""An expression as a tree, and what may be in one."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType

from pointsman.domain.value import Value

MAX_BYTES = 2_000
MAX_NODES = 200
MAX_DEPTH = 32
MAX_EXPONENT = 4.0
MAX_NUMBER = 1e9


class ScoreName(StrEnum):
    """What an expression may name: numbers from 0 to 1, of one target unless said otherwise."""

    COST = "cost_score"
    LATENCY = "latency_score"
    THROUGHPUT = "throughput_score"
    RELIABILITY = "reliability_score"
    COMPLEXITY = "complexity_score"  # of the request: the same for all targets
    EVAL_QUALITY = "eval_quality_score"
    ADJUSTED_PRICE = "adjusted_price_score"
    LOAD = "load_score"
    CACHE = "cache_score"


MANY = MAX_BYTES  # of arguments: as many as fit
ARITY: Mapping[str, tuple[int, int]] = MappingProxyType(  # fewest and most arguments of each function
    {
        "min": (2, MANY),
        "max": (2, MANY),
        "abs": (1, 1),
        "clamp": (3, 3),
        "sqrt": (1, 1),
        "log1p": (1, 1),
        "exp": (1, 1),
        "sigmoid": (1, 1),
        "lerp": (3, 3),
        "step": (2, 2),
        "coalesce": (2, MANY),
    }
)
ARITHMETIC = ("+", "-", "*", "/", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = ("and", "or", "not")
NUMBER, NAME, IF, NEGATED = "number", "name", "if", "negated"
_CONDITIONS = frozenset((*COMPARISONS, *LOGIC))


class Node(Value):
    """A number, a name, or what is done with the nodes below."""

    op: str
    start: int  # place in the text
    end: int
    below: "tuple[Node, ...]" = ()
    number: float = 0.0  # of a number
    name: str = ""  # of a name

    @property
    def is_condition(self) -> bool:
        """True or false, and no number."""
        return self.op in _CONDITIONS


class ExpressionError(ValueError):
    """An expression that is refused: why, where, and what to do."""

    def __init__(self, message: str, fix: str, start: int = 0) -> None:
        super().__init__(f"character {start + 1}: {message}")
        self.fix = fix


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for each in node.below:
        yield from walk(each)


def addends(node: Node) -> list[tuple[str, Node]]:
    """What a sum is made of, each with its sign, in order; of anything else itself."""
    if node.op not in {"+", "-"}:
        return [("+", node)]
    left, right = node.below
    return [*addends(left), (node.op, right)]
