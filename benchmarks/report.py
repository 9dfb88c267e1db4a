"""The result of a run: rows with every round's value, as a table for people and as JSON for comparisons."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TextIO

from msgspec import Struct
from rich.console import Console
from rich.table import Table

from benchmarks.cases import Case, Limit
from benchmarks.measure import Round
from benchmarks.stats import Spread, ratios, spread

_HEADERS = ("case", "figure (us)", "direct", "relay", "gateway", "ratio (min-max)", "measured", "load busy")
_TEXT_COLUMNS = 2  # flush left; the others hold numbers


class Row(Struct, frozen=True):
    """One figure of one case; a value in microseconds for every round."""

    case: str
    figure: str
    direct_us: list[float]  # empty: not measured
    relay_us: list[float]
    gateway_us: list[float]
    ratio: Spread  # gateway over relay, round by round
    measured: int  # requests or events of all rounds of the gateway
    load_busy_ratio: float
    limit: Limit | None = None

    @property
    def name(self) -> str:
        return f"{self.case}: {self.figure}"

    @property
    def added_us(self) -> float:
        """Median of what the gateway adds to the relay, round by round."""
        return statistics.median(ours - theirs for theirs, ours in zip(self.relay_us, self.gateway_us, strict=True))

    @property
    def is_above_limit(self) -> bool:
        limit = self.limit
        return limit is not None and (
            (limit.ratio is not None and self.ratio.median > limit.ratio)
            or (limit.added_us is not None and self.added_us > limit.added_us)
        )


class Machine(Struct, frozen=True):
    """What the absolute figures depend on."""

    cores: int
    subject_core: int
    load_core: int
    python: str
    core: str  # of the gateway: compiled or interpreted
    load_average_before: tuple[float, float, float]
    load_average_after: tuple[float, float, float]
    calibration_ms: Spread  # of a fixed piece of work on the core of the processes under test


class Result(Struct, frozen=True):
    """A whole run."""

    rows: list[Row]
    machine: Machine


def rows_of(case: Case, rounds: Mapping[str, Sequence[Round]]) -> list[Row]:
    """The rows of a case; `rounds` by "direct", "relay" and "gateway"."""
    busy = statistics.median(found.load_busy_ratio for found in rounds["gateway"])
    measured = sum(found.units for found in rounds["gateway"])
    rows = []
    for figure in case.figures:
        values = {
            name: [value for value in map(figure.read, founds) if value is not None] for name, founds in rounds.items()
        }
        ratio = spread(ratios(values["relay"], values["gateway"]))
        rows.append(
            Row(
                case.title, figure.title, values.get("direct", []), values["relay"], values["gateway"],
                ratio, measured, busy, figure.limit,
            )
        )  # fmt: skip
    return rows


def write(result: Result, out: TextIO) -> None:
    """The table: drawn by rich on a terminal that is wide enough, aligned plain text anywhere else."""
    lines = [_cells(row) for row in result.rows]
    table = Table(*_HEADERS)
    for line in lines:
        table.add_row(*line)
    console = Console(file=out)
    if console.is_terminal and console.measure(table).maximum <= console.width:
        console.print(table)
    else:
        out.write(plain_table([_HEADERS, *lines]))
    out.write("Values are medians over the rounds. load busy: share of its core that the mock and the load used.\n")
    out.write(_machine_line(result.machine))
    out.writelines(_verdict(row) for row in result.rows)


def plain_table(lines: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, the first two flush left, the others flush right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ""
    for line in lines:
        cells = [
            cell.ljust(width) if column < _TEXT_COLUMNS else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.case,
        row.figure,
        _median(row.direct_us),
        _median(row.relay_us),
        _median(row.gateway_us),
        f"{row.ratio.median:.2f} ({row.ratio.low:.2f}-{row.ratio.high:.2f})",
        str(row.measured),
        f"{row.load_busy_ratio:.0%}",
    )


def _verdict(row: Row) -> str:
    if row.limit is None:
        return ""
    verdict = "ABOVE" if row.is_above_limit else "within"
    if row.limit.ratio is not None:
        return f"{row.name}: ratio {row.ratio.median:.2f}, {verdict} the limit of {row.limit.ratio:.2f}\n"
    found_ms, limit_ms = row.added_us / 1e3, (row.limit.added_us or 0.0) / 1e3
    return f"{row.name}: {found_ms:.1f} ms more than the relay, {verdict} the limit of {limit_ms:.1f} ms\n"


def _median(values_us: Sequence[float]) -> str:
    return f"{statistics.median(values_us):.1f}" if values_us else "-"


def _machine_line(machine: Machine) -> str:
    before, after = machine.load_average_before[0], machine.load_average_after[0]
    speed = machine.calibration_ms
    return (
        f"machine: {machine.cores} cores (under test on {machine.subject_core}, mock and load on {machine.load_core}), "
        f"Python {machine.python}, {machine.core} core, load average {before:.2f} -> {after:.2f}, "
        f"calibration {speed.median:.1f} ms ({speed.low:.1f}-{speed.high:.1f})\n"
    )
