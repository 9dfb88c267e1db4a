"""How far a comparison is, on stderr: redrawn on a terminal, a line now and then everywhere else."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_LINES = 20  # at most


@contextmanager
def reporting() -> Iterator[Callable[[int, int, str], None]]:
    """A function that takes the runs done, all runs, and what has just been run."""
    if not sys.stderr.isatty():
        yield _say
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")
        yield lambda done, count, what: bar.update(task, completed=done, total=count, description=what)


def _say(done: int, count: int, what: str) -> None:
    if done == count or done % math.ceil(count / _LINES) == 0:
        typer.echo(f"{done} of {count} runs ({what})", err=True)
