"""A comparison for people: one table, and whether the scenario's expectations are met."""

import io
import math
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from rich import box
from rich.console import Console
from rich.table import Table

from pointsman.simulator.baselines.registry import CLAIRVOYANT
from pointsman.simulator.compare import Estimate, Row, Summary
from pointsman.simulator.names import is_literal
from pointsman.simulator.plan import Plan

COLUMNS = 100

LEGEND = """\
regret    adjusted price beyond that of the clairvoyant, which sees the future
good fail answered, the first token within 3 s, and not answered at all, per 100 requests
ttft      seconds to the first token, at percentiles; failed attempts included
worst     the highest regret, and the target that was in trouble
usd       per 1,000 good answers
429 dead  attempts that were refused, or failed, per 100 requests
warm      tokens of prompts that came from a cache, in percent
left back seconds until traffic left the target in trouble, and was back; - it had next to none
*         a strategy of ours; all others are literal rebuilds of what others do"""


class _Column(Struct, frozen=True):
    title: str
    told: Callable[[Summary], str]


def _ratio(name: str, digits: int = 1) -> Callable[[Summary], str]:
    return lambda summary: _told(summary.of(name), 100.0, digits)


def _number(name: str, digits: int = 2) -> Callable[[Summary], str]:
    return lambda summary: _told(summary.of(name), 1.0, digits)


def _told(value: float | None, factor: float, digits: int) -> str:
    if value is None:
        return "-"
    return "never" if math.isinf(value) else _short(factor * value, digits)


def _short(value: float, digits: int) -> str:
    """About three figures: so that columns stay narrow."""
    size = round(abs(value), 1)
    return f"{value:.{0 if size >= 100.0 else min(digits, 1) if size >= 10.0 else digits}f}"


def _estimate(found: Estimate) -> str:
    half = "" if found.half is None else f" ±{_short(100.0 * found.half, 1)}"
    return _short(100.0 * found.value, 1) + half


def _worst(row: Row) -> str:
    """The regret, and at which target the trouble was."""
    return f"{_short(100.0 * row.regret.value, 1)} {row.plan.rpartition(':')[2]}"


_USUAL = (
    _Column("policy", lambda summary: summary.policy if is_literal(summary.policy) else f"{summary.policy} *"),
    _Column("regret %", lambda summary: _estimate(summary.regret)),
)
_WORST = _Column("worst %", lambda summary: _worst(summary.worst))
_MEDIAN = _Column("ttft 50", _number("ttft_p50_s"))
_MEASURED = (
    _Column("good", _ratio("goodput")),
    _Column("fail", _ratio("failures", 2)),
    _Column("ttft 95", _number("ttft_p95_s")),
    _Column("99", _number("ttft_p99_s")),
    _Column("usd", _number("usd", 3)),
    _Column("429", _ratio("refused")),
    _Column("dead", _ratio("dead")),
    _Column("warm", _ratio("cached", 0)),
    _Column("left", _number("detected_s", 0)),
    _Column("back", _number("recovered_s", 0)),
)


def table(found: Sequence[Summary]) -> str:
    """Plain text, at most COLUMNS wide."""
    columns = (*_USUAL, _WORST if len(found[0].rows) > 1 else _MEDIAN, *_MEASURED)
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        shown.add_column(column.title, justify="left" if number == 0 else "right", no_wrap=True)
    for summary in found:
        shown.add_row(*[column.told(summary) for column in columns])
    out = io.StringIO()
    Console(file=out, width=COLUMNS, color_system=None).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def title(plan: Plan, seeds: int, replicas: int, requests: int) -> str:
    times = "1 seed" if seeds == 1 else f"{seeds} seeds"
    nodes = "1 replica" if replicas == 1 else f"{replicas} replicas"
    return f"{plan.name}: {plan.description}\n{requests:,} requests, {times}, {nodes}"


class Verdict(Struct, frozen=True):
    """One expectation of a scenario."""

    text: str
    is_met: bool


def verdicts(plan: Plan, found: Sequence[Summary]) -> Iterator[Verdict]:
    """Nothing, if the policy was not run."""
    expect = plan.expect
    of = next((summary for summary in found if summary.policy == expect.policy), None)
    if of is None:
        return
    rows = (
        ("regret", expect.regret, of.regret.value, 100.0, " %"),
        ("failures", expect.failures, of.of("failures"), 100.0, " %"),
        ("time until traffic left", expect.detect, of.of("detected_s"), 1.0, " s"),
    )
    for what, most, value, factor, unit in rows:
        if most is not None and value is not None:
            is_met = value <= most
            told = "never" if math.isinf(value) else f"{factor * value:.2f}{unit}"
            text = f"{expect.policy}: {what} at most {factor * most:g}{unit}: {told}, {'met' if is_met else 'NOT met'}"
            yield Verdict(text, is_met)


def order(found: Sequence[Summary]) -> list[Summary]:
    """The reference first, then by regret."""
    return sorted(found, key=lambda summary: (summary.policy != CLAIRVOYANT, summary.regret.value))
