"""What is legal in an expression, but does nothing or not what was meant."""

from collections.abc import Iterator

from pointsman.routing.expressions import tree
from pointsman.routing.expressions.bounds import bounds
from pointsman.routing.expressions.parse import parse
from pointsman.routing.expressions.tree import Node, ScoreName

_DOMINATED_RATIO = 0.01  # of what the weightiest addend can change


def advice(text: str) -> Iterator[tuple[str, str]]:
    """What to warn of, and what to do about it, for an expression that compiles."""
    node = parse(text)
    compared = {each.name for each in tree.walk(node) if each.op == tree.NAME} - {ScoreName.COMPLEXITY.value}
    if not compared:
        yield "is the same for every target, so it decides nothing", "Name a score of the targets, too."
        return
    yield from _conditions(text, node)
    yield from _idle(text, node)


def _conditions(text: str, node: Node) -> Iterator[tuple[str, str]]:
    for each in tree.walk(node):
        if each.is_condition:
            found = bounds(each)
            if found.is_fixed:
                always = "always" if found.low else "never"
                yield (
                    f"`{text[each.start : each.end]}` is {always} true",
                    "Scores are from 0 to 1; mend it or leave it out.",
                )


def _idle(text: str, node: Node) -> Iterator[tuple[str, str]]:
    """Addends that change nothing, or next to nothing."""
    parts = [each for _, each in tree.addends(node)]
    widths = [found.high - found.low for found in map(bounds, parts)]
    for each, width in zip(parts, widths, strict=True):
        written = text[each.start : each.end]
        if not width and len(parts) > 1:
            yield f"`{written}` is the same for every target, so it decides nothing", "Leave it out."
        elif width < _DOMINATED_RATIO * max(widths):
            yield f"`{written}` can hardly ever decide: another part counts a hundred times as much", "Weigh it anew."
