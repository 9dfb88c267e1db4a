"""`pointsman serve` as operators run it: a process with a configuration file."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import Child, free_ports, running
from tests.e2e.engine.engine import Engine
from tests.integration.harness import no_secret_shows, read_records, write_configuration


class Gateway:
    """A running gateway."""

    def __init__(self, process: Child, port: int, folder: Path) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._process, self._folder = process, folder

    def records(self) -> list[dict[str, Any]]:
        """All decision records. Stops the gateway, so that all are written."""
        self._process.stop()
        return read_records(self._folder)


@contextmanager
def serve(
    folder: Path,
    *engines: Engine,
    groups: Mapping[str, object],
    fields: Mapping[str, object] | None = None,
    **sections: object,
) -> Iterator[Gateway]:
    """A gateway in front of real engines, each with these `fields`; any other argument is a section of the file."""
    file, (port, admin_port) = folder / "pointsman.yaml", free_ports(2)
    write_configuration(
        file,
        *engines,
        groups=groups,
        provider_fields={each.name: {"kind": "llamacpp", **(fields or {})} for each in engines},
        server={"listen": f"127.0.0.1:{port}", "admin_listen": f"127.0.0.1:{admin_port}"},
        **sections,
    )
    command = [sys.executable, "-m", "pointsman", "serve", "--config", str(file)]
    with running("gateway", command, port=port) as process:
        yield Gateway(process, port, folder)
    no_secret_shows(folder)
