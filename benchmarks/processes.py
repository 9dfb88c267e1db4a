"""Child processes of a run: started on a core, awaited, watched, and always ended by their own process id."""

import http
import http.client
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from benchmarks.cpu import pinned

ROOT = Path(__file__).resolve().parent.parent
_READY_TIMEOUT_S = 20.0
_STOP_TIMEOUT_S = 10.0
_POLL_INTERVAL_S = 0.02
_LOG_TAIL_BYTES = 2000


class ProcessError(Exception):
    """A process of the run did not start or has died."""


class Child:
    """One running process."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.pid = process.pid
        self._process = process
        self._log = log

    def check(self, *, grace_s: float = 0.0) -> None:
        """Raises ProcessError, with the end of its output, if the process is gone or goes within `grace_s`."""
        try:
            status = self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            return
        raise ProcessError(f"{self.name} ended with status {status}{self._last_words()}")

    def wait_until_ready(self, port: int, path: str, status: int) -> None:
        """Returns when a GET of the path has that status."""
        deadline_s = time.monotonic() + _READY_TIMEOUT_S
        while _status_of(port, path) != status:
            self.check()
            if time.monotonic() > deadline_s:
                raise ProcessError(f"{self.name} is not ready after {_READY_TIMEOUT_S:g} s{self._last_words()}")
            time.sleep(_POLL_INTERVAL_S)

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, within_s: float) -> int:
        """The status it ends with. Raises TimeoutExpired if it does not end."""
        return self._process.wait(within_s)

    def stop(self) -> None:
        """Asks politely, then insists."""
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends it at once, whatever it is doing."""
        self._process.kill()
        self._process.wait()

    def _last_words(self) -> str:
        output = self._log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
        return f"; its last output:\n{output}" if output else ""


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    *,
    port: int,
    core: int | None = None,
    path: str = "/livez",
    status: int = http.HTTPStatus.OK,
) -> Iterator[Child]:
    """The process for as long as the block runs, which begins when `path` has `status`; `core` None: on any core."""
    paths = [os.environ.get("PYTHONPATH", ""), str(ROOT), str(ROOT / "src")]  # whoever calls may want the compiled core
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    with tempfile.NamedTemporaryFile(prefix=f"bench-{name}-", suffix=".log") as log:
        with nullcontext() if core is None else pinned(core):  # inherited by every thread and process of the child
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        child = Child(name, process, Path(log.name))
        try:
            child.wait_until_ready(port, path, status)
            yield child
        finally:
            child.stop()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on at the moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(held.getsockname()[1]) for held in sockets]
    finally:
        for held in sockets:
            held.close()


def _status_of(port: int, path: str) -> int | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1.0)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
