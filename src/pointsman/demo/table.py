"""A picture as lines of text for a terminal of 80 columns and 24 lines. Pure."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from rich.text import Text

from pointsman.demo.picture import WINDOW_S, Callers, Kind, Line, Picture, Row
from pointsman.demo.story import counted, name_of, percent
from pointsman.domain.view import Breaker

COLUMNS, ROWS = 80, 24  # the terminal that everything has to fit on
STORY_LINES = 6  # what is left of it
BAR_CELLS = 8

_NONE = "-"
_BREAKER_STYLE = {Breaker.CLOSED: "green", Breaker.HALF_OPEN: "yellow", Breaker.OPEN: "bold red"}
_KIND_STYLE = {Kind.EVENT: "bold", Kind.STATE: "yellow", Kind.REQUEST: ""}


class Column(Struct, frozen=True):
    """One number of every target."""

    heading: str
    cells: int
    text: Callable[[Row], str]
    style: Callable[[Row], str] = lambda _: ""
    is_right: bool = True

    def shown(self, text: str) -> str:
        """A text in the width of the column."""
        return text.rjust(self.cells) if self.is_right else text.ljust(self.cells)


def _breaker(row: Row) -> str:
    breaker = row.view.breaker
    return f"open, {row.pause_left_s} s" if breaker is Breaker.OPEN else breaker.value.replace("_", "-")


def _ttft(row: Row) -> str:
    return _NONE if row.ttft_s is None else f"{row.ttft_s * 1000:.0f} ms"


def _errors(row: Row) -> str:
    return _NONE if row.error_ratio is None else percent(row.error_ratio)


def _error_style(row: Row) -> str:
    return "red" if row.error_ratio else ""


def _outcome_style(row: Row) -> str:
    return "" if row.last_outcome in {None, "ok"} else "red"


_TARGET = Column("target", 7, lambda row: name_of(row.target_id), is_right=False)
_BAR = Column("", BAR_CELLS, lambda row: "\u2588" * round(row.share * BAR_CELLS), lambda _: "cyan", is_right=False)
_NUMBERS = (
    Column("share", 5, lambda row: percent(row.share)),
    Column("attempts", 8, lambda row: str(row.attempts)),
    Column("errors", 6, _errors, _error_style),
    Column("ttft p50", 8, _ttft),
    Column("breaker", 10, _breaker, lambda row: _BREAKER_STYLE[row.view.breaker], is_right=False),
    Column("last outcome", 14, lambda row: row.last_outcome or _NONE, _outcome_style, is_right=False),
)
PLAIN_COLUMNS = (_TARGET, *_NUMBERS)
LIVE_COLUMNS = (_TARGET, _BAR, *_NUMBERS)


def screen(picture: Picture, routing: str, pointers: Sequence[str]) -> list[Text]:
    """The whole view; `pointers` say where everything is and how to try it."""
    told = picture.lines[-STORY_LINES:]
    return [
        _title(picture, routing),
        *targets(picture.rows, LIVE_COLUMNS),
        _fitted(f"callers  {of_callers(picture)}"),
        _fitted(f"decision {picture.decision}", style="dim"),
        Text(),
        *(_fitted(of_line(line), style=_KIND_STYLE[line.kind]) for line in told),
        *[Text()] * (STORY_LINES - len(told)),
        Text(),
        *(Text(piece) for pointer in pointers for piece in _folded(pointer)),
    ]


def _fitted(text: str, style: str = "") -> Text:
    """One line, whatever is in it: what is lost here will be said again."""
    line = Text(text, style=style)
    line.truncate(COLUMNS, overflow="ellipsis")
    return line


def _folded(text: str) -> Iterator[str]:
    """All of it, since it may have to be copied; the paths of some systems are long."""
    return (text[at : at + COLUMNS] for at in range(0, len(text), COLUMNS))


def targets(rows: Sequence[Row], columns: Sequence[Column]) -> list[Text]:
    """One line per target below their headings."""
    heads = Text("  ".join(column.shown(column.heading) for column in columns).rstrip(), style="bold")
    return [heads, *(_target(row, columns) for row in rows)]


def _target(row: Row, columns: Sequence[Column]) -> Text:
    cells = [Text(column.shown(column.text(row)), style=column.style(row)) for column in columns]
    line = Text("  ").join(cells)
    line.rstrip()
    line.truncate(COLUMNS, overflow="ellipsis")
    return line


def _title(picture: Picture, routing: str) -> Text:
    text = f"Pointsman demo: {routing}; numbers of the last {WINDOW_S:g} s"
    return Text(text.ljust(COLUMNS - 6) + clock(picture.elapsed_s).rjust(6), style="reverse")


def of_callers(picture: Picture) -> str:
    """What the callers got, and what they were spared."""
    callers = picture.callers
    return (
        f"{counted(callers.requests, 'request')}, {_answered(callers)} answered, {callers.failed} failed; "
        f"{counted(picture.failovers, 'failover')} they never saw"
    )


def _answered(callers: Callers) -> str:
    """Rounded down: one failure in a million is not 100 %."""
    if not callers.requests:
        return _NONE
    return f"{(callers.requests - callers.failed) * 1000 // callers.requests / 10} %"


def of_line(line: Line) -> str:
    return f"{clock(line.at_s)}  {line.text}"


def plain(picture: Picture) -> str:
    """Targets and callers, indented below the story of the plain lines."""
    rows = [line.plain for line in targets(picture.rows, PLAIN_COLUMNS)]
    return "\n".join(f"       {line}" for line in (*rows, f"callers  {of_callers(picture)}"))


def summary(picture: Picture) -> str:
    """The last words of the demo."""
    callers = picture.callers
    return (
        f"{picture.elapsed_s:.0f} s: {counted(callers.requests - callers.failed, 'request')} served, "
        f"{counted(callers.failed, 'failure')} seen by callers, {counted(picture.failovers, 'failover')}."
    )


def clock(elapsed_s: float) -> str:
    """Minutes and seconds."""
    minutes, seconds = divmod(int(elapsed_s), 60)
    return f"{minutes:02}:{seconds:02}"
