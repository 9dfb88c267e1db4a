"""`pointsman serve` in a process of its own, with one fake provider in ours."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import Child, free_ports, running
from pointsman.app import new_loop
from pointsman.testing import Answer, Chat, FakeProvider
from pointsman.testing.provider import AnswerFor
from tests.integration.harness import DECISIONS_FILE, no_secret_shows, read_records, write_configuration

KIB = 1024
FINE = Chat("fine")


class Served:
    """A gateway in a process of its own, with one provider in ours."""

    def __init__(self, process: Child, port: int, admin_port: int, provider: FakeProvider, file: Path) -> None:
        self.process, self.provider, self.file = process, provider, file
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.admin_url = f"http://127.0.0.1:{admin_port}"

    def rss_bytes(self) -> int:
        (line,) = [line for line in self._proc("status").splitlines() if line.startswith("VmRSS:")]
        return int(line.split()[1]) * KIB

    def greatest_rss_bytes(self) -> int:
        """The most it has ever had."""
        (line,) = [line for line in self._proc("status").splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * KIB

    def cpu_s(self) -> float:
        user, system = self._proc("stat").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / 100  # ticks of the kernel's clock

    def log(self) -> bytes:
        """Everything it has written to stdout and stderr."""
        return log_of(self.file).read_bytes()

    def log_lines(self) -> int:
        return len(self.log().splitlines())

    def command_line(self) -> bytes:
        """As every other user of the machine may read it."""
        return self._proc("cmdline").encode()

    def lines(self) -> bytes:
        """The decision records that have been written, as they are."""
        return (self.file.parent / DECISIONS_FILE).read_bytes()

    def records(self) -> list[dict[str, Any]]:
        """The decision records that have been written."""
        return read_records(self.file.parent)

    async def ended(self, within_s: float) -> int:
        """The status it ends with."""
        return await asyncio.to_thread(self.process.wait, within_s)

    def _proc(self, name: str) -> str:
        return Path("/proc", str(self.process.pid), name).read_text(encoding="ascii")


@asynccontextmanager
async def served(
    folder: Path,
    *,
    answer: Answer = FINE,
    answer_for: AnswerFor | None = None,
    files: int | None = None,
    **sections: Any,
) -> AsyncIterator[Served]:
    """`files`: how many the gateway may have open."""
    port, admin_port = free_ports(2)
    listen = {"listen": f"127.0.0.1:{port}", "admin_listen": f"127.0.0.1:{admin_port}"}
    file = folder / "pointsman.yaml"
    server = {**listen, **sections.pop("server", {})}
    async with FakeProvider(name="a", default=answer, answer_for=answer_for) as a:
        write_configuration(file, a, server=server, **sections)
        limit = "" if files is None else f"ulimit -n {files} && "
        command = f'{limit}exec "{sys.executable}" -m pointsman serve --config "{file}" >"{log_of(file)}" 2>&1'
        with running("gateway", ["sh", "-c", command], port=port) as process:
            yield Served(process, port, admin_port, a, file)
        no_secret_shows(folder, log=log_of(file).read_bytes())


def log_of(file: Path) -> Path:
    return file.with_name("log")


def play(story: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(story())
