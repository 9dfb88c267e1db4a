"""An explanation as text for a terminal: the targets in a table, then the line for humans."""

from collections.abc import Iterator, Mapping, Sequence

from pointsman.control.explain import Explanation, State
from pointsman.routing.explain import Explained
from pointsman.routing.explanation import Number, TargetRow, shown, title

NOTHING = "-"
_PLAIN = frozenset(("breaker",))  # says by itself what it is
_USUAL: Mapping[str, Number] = {"gate": 1.0}
RESTS_ON: Mapping[State, str] = {
    State.LIVE: "what the gateway knows now",
    State.FRESH: "a fresh start: no gateway was asked, so nothing is paused, in flight or learned (--admin asks one)",
}


def text(explanation: Explanation) -> str:
    """Everything, in lines."""
    return "\n".join(_lines(explanation))


def _lines(explanation: Explanation) -> Iterator[str]:
    explained = explanation.explained
    if explained.group is not None:
        yield f"{explained.group}: {explained.strategy} because {explained.strategy_reason}"
        yield ""
        yield from _aligned(_table(explained.targets))
        yield ""
        yield explained.line
    yield from _what_happens(explained)
    rests_on = RESTS_ON[explanation.state]
    yield f"decided on {rests_on}; configuration version {explanation.config_version}, draw {explanation.seed}"


def _what_happens(explained: Explained) -> Iterator[str]:
    if explained.wait_s is not None:
        yield f"the request would wait {explained.wait_s:g} s and look again"
    if explained.refusal is not None:
        refusal = explained.refusal
        yield f"the request would be refused with {refusal.status} {refusal.code}: {refusal.message}"


def _table(rows: Sequence[TargetRow]) -> list[list[str]]:
    columns = list(dict.fromkeys(name for row in rows for name in row.numbers if name not in row.state))
    head = ["", "target", "weight", *map(title, columns), "state", "why not"]
    return [head] + [
        [
            ">" if row.is_picked else "",
            row.target,
            f"{row.weight:g}",
            *(shown(name, row.numbers[name]) if name in row.numbers else NOTHING for name in columns),
            _state(row.state),
            row.because or "",
        ]
        for row in rows
    ]


def _state(state: Mapping[str, Number]) -> str:
    """What is worth a word: everything but unknown, zero and no, and what is as usual."""
    told = [shown(name, value) if name in _PLAIN else f"{title(name)} {shown(name, value)}"
            for name, value in state.items() if value and value != _USUAL.get(name)]  # fmt: skip
    return ", ".join(told)


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
