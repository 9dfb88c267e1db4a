"""Real engines: each one a process of its own, which can be killed and started again on the same port."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import msgspec

from benchmarks.processes import Child, free_ports, running
from tests.integration.harness import At

READY, LOADING = 200, 503
PATIENCE_S = 5.0


class Engine(At, frozen=True):
    """One running llama.cpp server."""

    port: int
    process: Child

    @property
    def busy_slots(self) -> int:
        """Answers it is working on."""
        with urlopen(f"http://127.0.0.1:{self.port}/slots", timeout=PATIENCE_S) as reply:  # loopback
            return sum(slot["is_processing"] for slot in msgspec.json.decode(reply.read()))


@contextmanager
def engine(model: Path, *, port: int | None = None, status: int = READY, embeds: bool = False) -> Iterator[Engine]:
    """An engine with a model, named like the file; at the begin of the block its health has that status.

    `embeds`: it makes embeddings, too.
    """
    name, port = model.stem, port or free_ports(1)[0]
    command = [sys.executable, "-m", "tests.e2e.engine.serve", str(model), str(port), *["embeddings"] * embeds]
    with running(name, command, port=port, path="/health", status=status) as process:
        yield Engine(name, f"http://127.0.0.1:{port}/v1", port, process)
