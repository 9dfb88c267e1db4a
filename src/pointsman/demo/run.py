"""Puts the demo together and runs it."""

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path

import typer

from pointsman.app import App
from pointsman.app import serve as serve_gateway
from pointsman.demo import configuration
from pointsman.demo.providers import running_fleet
from pointsman.demo.screen import fitting
from pointsman.demo.show import perform
from pointsman.demo.welcome import Place, welcome

HOST = "127.0.0.1"


async def run(*, port: int, duration_s: float | None, strategy: str, has_traffic: bool) -> None:
    """Serve until Ctrl-C or for `duration_s`; port 0 takes free ports. Raises OSError when a port cannot be had."""
    how_to_stop = "Ctrl-C" if duration_s is None else f"Ctrl-C, or wait {duration_s:g} s"
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pointsman-demo-")))
        fleet = await stack.enter_async_context(running_fleet())
        document = configuration.Document(folder, port, strategy, fleet.base_urls)
        document.write()
        loaded = document.load()

        def begin(app: App) -> None:
            records = loaded.settings.decisions_path
            place = Place(f"http://{HOST}:{app.port}/v1", f"http://{HOST}:{app.admin_port}/metrics", records, strategy)
            if has_traffic:
                tasks.create_task(perform(app, fleet, document, place, fitting(place, how_to_stop, os.environ)))
            else:
                typer.echo(welcome(place, how_to_stop))

        try:
            async with asyncio.TaskGroup() as tasks:
                await serve_gateway(loaded, on_ready=begin, duration_s=duration_s, reloads=False)
        except ExceptionGroup as failed:
            raise _first(failed) from None


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    """What ended it; the groups around it are about tasks, not about what went wrong."""
    error: Exception = failed
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
