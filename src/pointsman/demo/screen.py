"""Two ways to show pictures: a view that is redrawn in place on a terminal, and plain lines everywhere else."""

import shutil
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self, TextIO

import typer
from rich.console import Console, Group
from rich.live import Live

from pointsman.demo import table
from pointsman.demo.picture import WINDOW_S, Picture
from pointsman.demo.welcome import Place, pointers, welcome

TABLE_EVERY_S = WINDOW_S  # every request is in one table
_UNABLE = ("", "dumb", "unknown")  # terminals without a cursor that can be moved
_OBJECTIONS = ("NO_COLOR", "CI")  # variables of people, and of machines that keep what they read


class Screen(Protocol):
    """Shows pictures between the two ends of a `with` block."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def show(self, picture: Picture) -> None: ...


class LiveScreen:
    """Redrawn in place; the last picture stays, and the cursor comes back."""

    def __init__(self, place: Place) -> None:
        self._routing, self._pointers = place.routing, pointers(place)
        self._live = Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, picture: Picture) -> None:
        self._live.update(Group(*table.screen(picture, self._routing, self._pointers)), refresh=True)


class PlainScreen:
    """A line for everything that happens, and a table now and then; no escape codes."""

    def __init__(self, place: Place, how_to_stop: str) -> None:
        self._welcome = welcome(place, how_to_stop)
        self._told = 0
        self._next_table_s = TABLE_EVERY_S

    def __enter__(self) -> Self:
        typer.echo(self._welcome + "\n")
        return self

    def __exit__(self, *_: object) -> None:
        typer.echo()

    def show(self, picture: Picture) -> None:
        for line in picture.lines:
            if line.number > self._told:
                typer.echo(table.of_line(line))
                self._told = line.number
        if picture.elapsed_s >= self._next_table_s:
            typer.echo(table.plain(picture))
            self._next_table_s += TABLE_EVERY_S


def is_live(out: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether the live view can be shown: a terminal that is large and able enough, and nobody who objects."""
    columns, rows = shutil.get_terminal_size()
    return (
        out.isatty()
        and out.encoding.lower().startswith("utf")
        and environ.get("TERM", "dumb") not in _UNABLE
        and not any(environ.get(name) for name in _OBJECTIONS)
        and columns >= table.COLUMNS
        and rows >= table.ROWS
    )


def fitting(place: Place, how_to_stop: str, environ: Mapping[str, str]) -> Screen:
    """The screen for standard output as it is."""
    return LiveScreen(place) if is_live(sys.stdout, environ) else PlainScreen(place, how_to_stop)
