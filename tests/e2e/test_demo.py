"""`pointsman demo` as a newcomer runs it: a process that says what it is, answers, and leaves nothing behind."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from http import client
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from pointsman.app import new_loop
from pointsman.routing.strategies import ADAPTIVE, ALONE, STRATEGIES
from pointsman.testing import chat
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.e2e.terminal import COLUMNS, CTRL_C, ROWS, TerminalProcess, on_terminal

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN_S = 20.0
STOPPED_WITHIN_S = 15.0
ANSWER_WITHIN_S = 15.0  # of a provider that speaks as slowly as a real one
LAST_LINE = "Stop with "
SUMMARY = r"\d+ s: \d+ requests? served, 0 failures seen by callers, \d+ failovers?\."


class Demo:
    """A running demo: its words so far, and where they say it is."""

    def __init__(self, process: subprocess.Popen[str], lines: Sequence[str]) -> None:
        self.process = process
        self.lines = lines
        self.base_url = self.value_of("base URL")
        self.metrics_url = self.value_of("metrics")
        self.records = Path(self.value_of("decisions"))

    def value_of(self, label: str) -> str:
        """What the welcome says behind a label."""
        (value,) = (
            found[1].strip() for line in self.lines if (found := re.match(rf"  {label} +(\S.*)", line)) is not None
        )
        return value

    def ask(self, *requests: bytes) -> list[Reply]:
        """The answers to requests, one after the other."""

        async def replies() -> list[Reply]:
            async with await Wire.open(self.base_url) as wire:
                found = []
                for request in requests:
                    wire.send(request)
                    found.append(await wire.reply(ANSWER_WITHIN_S))
                return found

        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(replies())

    def ended(self) -> tuple[int, str, str]:
        """Exit code, and what it has said since it was ready."""
        out, err = self.process.communicate(timeout=STOPPED_WITHIN_S)
        return self.process.returncode, out, err


@contextlib.contextmanager
def demo(folder: Path, *arguments: str) -> Iterator[Demo]:
    """A demo with its files below `folder`, ready; it is ended with the block, if it has not ended itself."""
    process = start(folder, "--port", "0", *arguments)
    try:
        yield Demo(process, lines_until_ready(process))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pointsman", "demo", *arguments]
    return subprocess.Popen(  # noqa: S603  # our own command
        command, env=environment_of(folder), cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def environment_of(folder: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(folder)}


def lines_until_ready(process: subprocess.Popen[str]) -> list[str]:
    """The welcome. A demo that does not say it ends or is ended by the caller: reading ends with the process."""
    assert process.stdout is not None
    lines: list[str] = []
    deadline_s = time.monotonic() + READY_WITHIN_S
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(LAST_LINE):
            return lines
        assert time.monotonic() < deadline_s, lines
    raise AssertionError(f"the demo ended before it was ready: {lines} {process.communicate()}")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One demo for all tests that only ask."""
    with demo(tmp_path_factory.mktemp("demo"), "--no-traffic") as found:
        yield found


# --- what it says


def test_welcome_fits_a_small_terminal(running: Demo) -> None:
    assert len(running.lines) < ROWS
    folder = str(running.records.parent.parent)  # of this test; usually its name is as short as the one below
    assert max(len(line.replace(folder, "/tmp")) for line in running.lines) <= COLUMNS  # noqa: S108  # only its length


def test_welcome_names_both_models_and_how_they_route(running: Demo) -> None:
    models = running.value_of("models")

    assert models == "demo (weighted, weights 60/30/10), demo-failover"


def test_welcome_says_how_to_stop(running: Demo) -> None:
    assert running.lines[-1] == "Stop with Ctrl-C."


def test_example_in_the_welcome_is_the_base_url_it_names(running: Demo) -> None:
    text = "\n".join(running.lines)

    assert f"curl -i {running.base_url}/chat/completions -d" in text
    assert f'OpenAI(base_url="{running.base_url}", api_key="unused")' in text


# --- what it does


def test_unary_call_is_answered_and_says_by_whom(running: Demo) -> None:
    (reply,) = running.ask(chat_request("demo"))

    assert reply.status == 200
    assert reply.json()["choices"][0]["message"]["content"]
    assert reply.header("x-pointsman-target") in {b"swift/simulated", b"steady/simulated", b"thrifty/simulated"}


def test_streamed_call_ends_with_done(running: Demo) -> None:
    (reply,) = running.ask(chat_request("demo-failover", stream=True))

    assert reply.status == 200
    assert (reply.header("content-type") or b"").startswith(b"text/event-stream")
    assert reply.body.endswith(chat.DONE)
    assert len(reply.body.split(b"\n\n")) > 3


def test_failover_model_answers_whole_from_its_first_target(running: Demo) -> None:
    replies = running.ask(*[chat_request("demo-failover")] * 3)

    assert {reply.status for reply in replies} == {200}
    assert b"swift/simulated" in {reply.header("x-pointsman-target") for reply in replies}


def test_models_are_listed(running: Demo) -> None:
    (reply,) = running.ask(b"GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n")

    assert {"demo", "demo-failover"} <= {row["id"] for row in reply.json()["data"]}


def test_metrics_are_where_it_says(running: Demo) -> None:
    running.ask(chat_request("demo-failover"))
    parts = urlsplit(running.metrics_url)

    connection = client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    connection.request("GET", parts.path)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()

    assert reply.status == 200
    assert 'target="swift/simulated"' in text


def test_decisions_are_where_it_says(running: Demo) -> None:
    running.ask(chat_request("demo-failover"))

    deadline_s = time.monotonic() + 5
    while not (records := running.records.read_bytes().splitlines()) and time.monotonic() < deadline_s:
        os.sched_yield()

    assert msgspec.json.decode(records[0])


@pytest.mark.parametrize("strategy", ALONE)
def test_strategy_is_the_one_that_was_asked_for(strategy: str, tmp_path: Path) -> None:
    with demo(tmp_path, "--no-traffic", "--strategy", strategy) as running:
        replies = running.ask(*[chat_request("demo")] * 2)

    assert running.value_of("models") == f"demo ({strategy}, weights 60/30/10), demo-failover"
    decides = "blend" if strategy == ADAPTIVE else strategy
    warming_up = {b"fallback", b"exploration"} if decides in {"blend", "dynamic_score"} else set()
    assert replies[0].header("x-pointsman-mode") in {STRATEGIES[decides].mode.encode(), *warming_up}


def test_without_traffic_there_is_none(running: Demo) -> None:
    before = running.records.read_bytes().count(b"\n")

    running.ask(chat_request("demo-failover"))

    deadline_s = time.monotonic() + 5
    while (after := running.records.read_bytes().count(b"\n")) == before and time.monotonic() < deadline_s:
        os.sched_yield()
    assert after == before + 1


# --- the show, to a pipe


def test_show_in_a_pipe_is_lines_of_text_that_end_with_a_summary(tmp_path: Path) -> None:
    with demo(tmp_path, "--duration", "11") as running:
        assert running.process.stdout is not None
        out = running.process.stdout.read()  # also what the welcome's reader has taken ahead
        code, _, err = running.ended()

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert set(out) <= set(string.printable)
    assert "00:00  traffic begins: 4 requests per second" in lines
    assert "00:04  swift slows down: everything takes 6 times as long" in lines
    assert len(re.findall(r"^ +(?:swift|steady|thrifty) +\d+ % +\d+ ", out, re.MULTILINE)) == 3
    assert re.fullmatch(SUMMARY, lines[-1])
    assert list(tmp_path.iterdir()) == []


def test_reader_that_leaves_ends_it_without_a_trace(tmp_path: Path) -> None:
    with demo(tmp_path, "--duration", "30") as running:
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.stderr is not None
        err = running.process.stderr.read()

        code = running.process.wait(STOPPED_WITHIN_S)

    assert (code, err) == (1, "")
    assert list(tmp_path.iterdir()) == []


# --- the show, on a terminal


@contextlib.contextmanager
def on_a_terminal(folder: Path, *arguments: str, **variables: str) -> Iterator[TerminalProcess]:
    usual = {name: value for name, value in environment_of(folder).items() if name not in {"NO_COLOR", "CI"}}
    command = ["-m", "pointsman", "demo", "--port", "0", *arguments]
    with on_terminal(command, usual | {"TERM": "xterm-256color"} | variables, folder) as running:
        yield running


def test_live_view_tells_events_and_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    with on_a_terminal(tmp_path) as running:
        seen = running.until(lambda picture: "slows down" in picture)
        lines_lost = len(running.picture.scrolled)

        running.type(CTRL_C)
        code = running.exit_code()

    assert code == 0
    assert lines_lost == 0
    assert seen.splitlines()[0].startswith("Pointsman demo: weighted, weights 60/30/10")
    assert re.search(r"^swift +\u2588+ +\d+ % +\d+ ", seen, re.MULTILINE)
    assert re.search(r"^base URL   http://127.0.0.1:\d+/v1  metrics http://127.0.0.1:\d+/metrics$", seen, re.MULTILINE)
    assert seen.splitlines()[-1].startswith("print(client.chat.completions.create(")
    assert re.fullmatch(SUMMARY, str(running.picture).rstrip().splitlines()[-1])
    assert "Traceback" not in str(running.picture)
    assert running.picture.has_cursor
    assert list(tmp_path.iterdir()) == []


def test_terminal_without_colours_gets_plain_lines(tmp_path: Path) -> None:
    with on_a_terminal(tmp_path, NO_COLOR="1") as running:
        running.until(lambda picture: "traffic begins" in picture)

        running.type(CTRL_C)
        code = running.exit_code()

    assert code == 0
    assert b"\x1b" not in running.raw
    assert re.search(SUMMARY, str(running.picture))


# --- how it ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_quietly_and_nothing_is_left(tmp_path: Path, number: signal.Signals) -> None:
    with demo(tmp_path, "--no-traffic") as running:
        running.ask(chat_request("demo-failover"))
        assert running.records.parent.is_dir()

        running.process.send_signal(number)
        ended = running.ended()

    assert ended == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_signal_ends_it_even_with_a_stream_under_way(tmp_path: Path) -> None:
    async def stream_and_stop(running: Demo) -> None:
        async with await Wire.open(running.base_url) as wire:
            wire.send(chat_request("demo-failover", stream=True))
            await wire.received_bytes(1)
            running.process.send_signal(signal.SIGTERM)

    with demo(tmp_path, "--no-traffic") as running:
        asyncio.run(stream_and_stop(running))

        ended = running.ended()

    assert ended == (0, "", "")


def test_duration_ends_it_by_itself(tmp_path: Path) -> None:
    with demo(tmp_path, "--no-traffic", "--duration", "0.3") as running:
        begin_s = time.monotonic()

        ended = running.ended()

    assert ended == (0, "", "")
    assert running.lines[-1] == "Stop with Ctrl-C, or wait 0.3 s."
    assert time.monotonic() - begin_s < STOPPED_WITHIN_S
    assert list(tmp_path.iterdir()) == []


# --- how it does not start


def neighbours() -> tuple[socket.socket, socket.socket]:
    """Two listening sockets on ports that follow each other."""
    for _ in range(100):
        first = socket.create_server(("127.0.0.1", 0))
        try:
            return first, socket.create_server(("127.0.0.1", first.getsockname()[1] + 1))
        except (OSError, OverflowError):
            first.close()
    raise AssertionError("no two neighbouring ports are free")


@pytest.mark.parametrize("taken", ["gateway", "admin"])
def test_taken_port_is_said_clearly(tmp_path: Path, taken: str) -> None:
    gateway, admin = neighbours()
    port = gateway.getsockname()[1]
    with gateway, admin:
        (admin if taken == "gateway" else gateway).close()

        process = start(tmp_path, "--port", str(port))
        out, err = process.communicate(timeout=READY_WITHIN_S)

    assert (process.returncode, out) == (1, "")
    assert re.fullmatch(r"cannot start: .*address already in use.* Try --port\.\n", err, re.IGNORECASE), err
    assert f"{port if taken == 'gateway' else port + 1}" in err
    assert list(tmp_path.iterdir()) == []
