"""`pointsman serve` and its file: a signal, an edit, a swapped link, a broken file, and the same process all along."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pointsman.app import new_loop
from pointsman.testing import FakeProvider
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import ask
from tests.integration.harness import At

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 20.0
KEY = "sk-5ecret-of-the-file"
POLL_S = 0.05

pytestmark = pytest.mark.slow


class Serving:
    """A running `pointsman serve`."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, port: int, admin_port: int) -> None:
        self.process, self._folder = process, folder
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._admin_url = f"http://127.0.0.1:{admin_port}"

    async def status(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self._get("/api/v1/status")).json()
        return found

    async def metric(self, name: str) -> float:
        lines = (await self._get("/metrics")).body.decode().splitlines()
        (value,) = [line.rpartition(" ")[2] for line in lines if line.startswith(f"pointsman_{name} ")]
        return float(value)

    async def until(self, is_true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The status once it is as wanted."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_true(status := await self.status()):
                await asyncio.sleep(POLL_S)
        return status

    async def reload(self) -> dict[str, Any]:
        """The status after a signal."""
        before = (await self.status())["last_reload"]
        self.process.send_signal(signal.SIGHUP)
        return await self.until(lambda status: status["last_reload"] != before)

    async def ended(self) -> tuple[int | None, list[dict[str, Any]]]:
        """Exit code and log lines."""
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            await self.process.wait()
        return self.process.returncode, [json.loads(line) for line in self.log.splitlines()]

    @property
    def log(self) -> str:
        return (self._folder / "stdout").read_text(encoding="utf-8")

    def records(self) -> list[dict[str, Any]]:
        lines = (self._folder / "decisions.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    async def _get(self, path: str) -> Reply:
        return await ask(self._admin_url, f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())


def text(*providers: FakeProvider | At, number: int = 0, **sections: object) -> str:
    """A file whose group "chat" has the target `NAME/m-NUMBER` of each provider."""
    document = {
        "version": 1,
        "auth": {"mode": "none"},
        "server": {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0"},
        "records": {"decisions": {"path": "decisions.jsonl"}},
        "providers": {each.name: {"kind": "vllm", "base_url": each.base_url, "api_key": KEY} for each in providers},
        "models": {"chat": {"targets": [{"model": f"{each.name}/m-{number}"} for each in providers]}},
    }
    return yaml.safe_dump({**document, **sections})


def put(file: Path, content: str) -> None:
    """As an editor does that writes in place."""
    file.write_text(content, encoding="utf-8")


@contextlib.asynccontextmanager
async def serving(folder: Path, file: Path) -> AsyncIterator[Serving]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = (sys.executable, "-m", "pointsman", "serve", "--config", str(file))
    with (folder / "stdout").open("w") as out:
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=out, stderr=subprocess.PIPE)
    try:
        yield Serving(process, folder, *await ports(process))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ports(process: asyncio.subprocess.Process) -> tuple[int, int]:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE_S):
        while line := (await process.stderr.readline()).decode():
            if line.startswith("gateway on port"):
                gateway, admin = (int(word.strip(",")) for word in line.split() if word.strip(",\n").isdigit())
                return gateway, admin
    raise AssertionError("the gateway ended before it was ready")


def run(scenario: Any) -> Any:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scenario)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pointsman.yaml"


@pytest.mark.case("T92", "I16", "I17")
@pytest.mark.bug("J-04")
def test_signals_under_traffic_swap_and_refuse_without_a_failed_request(tmp_path: Path, file: Path) -> None:
    reloads = 40

    async def scenario() -> tuple[list[Reply], dict[str, Any], tuple[int | None, list[Any]], list[Any]]:
        async with FakeProvider(name="a") as a:
            put(file, text(a))
            async with serving(tmp_path, file) as gateway:
                stop, replies = asyncio.Event(), []

                async def caller() -> None:
                    async with await Wire.open(gateway.base_url) as wire:
                        while not stop.is_set():
                            wire.send(chat_request("chat", stream=True))
                            replies.append(await wire.reply())
                            await asyncio.sleep(0.02)

                callers = [asyncio.create_task(caller()) for _ in range(4)]
                for number in range(1, reloads + 1):
                    put(file, "version: 1\nmodels: [\n" if number % 4 == 0 else text(a, number=number))
                    status = await gateway.reload()
                stop.set()
                await asyncio.gather(*callers)
                ended = await gateway.ended()
                return replies, status, ended, gateway.records()

    replies, status, (code, log), records = run(scenario())

    good = reloads - reloads // 4
    number_of = dict(enumerate([0, *(number for number in range(1, reloads + 1) if number % 4)], start=1))
    assert (status["config_version"], status["last_reload"]["result"]) == (good + 1, "refused")
    assert {reply.status for reply in replies} == {200}
    assert len(records) == len(replies) > reloads
    for record in records:
        assert record["attempts"][0]["target_id"] == f"a/m-{number_of[record['config_version']]}"
    assert [line["result"] for line in log if "result" in line].count("refused") == reloads // 4
    assert code == 0


def test_edit_is_noticed_and_a_broken_one_is_refused_until_it_is_mended(tmp_path: Path, file: Path) -> None:
    async def scenario() -> tuple[list[dict[str, Any]], list[float], list[Any]]:
        async with FakeProvider(name="a") as a:
            put(file, text(a))
            async with serving(tmp_path, file) as gateway:
                put(file, text(a, number=1))
                found = [await gateway.until(lambda status: status["config_version"] == 2)]
                put(file, text(a, number=2).replace("models:", f"modles: {KEY}\nmodels:"))
                found.append(await gateway.until(lambda status: status["last_reload"]["result"] == "refused"))
                refused = [await gateway.metric("config_refused")]
                assert (await ask(gateway.base_url, chat_request("chat"))).status == 200
                put(file, text(a, number=2))
                found.append(await gateway.until(lambda status: status["config_version"] == 3))
                refused.append(await gateway.metric("config_refused"))
                _, log = await gateway.ended()
                return found, refused, log

    (first, broken, mended), refused, log = run(scenario())

    assert [status["last_reload"]["trigger"] for status in (first, broken, mended)] == ["watch"] * 3
    (problem,) = broken["last_reload"]["problems"]
    assert "modles" in problem
    assert "Did you mean 'models'?" in problem
    assert refused == [1, 0]
    assert KEY not in f"{first}{broken}{mended}{log}"
    assert problem in next(line["problems"] for line in log if line["level"] == "error")


def test_swapped_symbolic_link_is_noticed(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with FakeProvider(name="a") as a:
            for number in range(2):
                (tmp_path / f"release-{number}").mkdir()
                records = {"decisions": {"path": str(tmp_path / "decisions.jsonl")}}
                put(tmp_path / f"release-{number}" / "pointsman.yaml", text(a, number=number, records=records))
            (tmp_path / "current").symlink_to("release-0")
            async with serving(tmp_path, tmp_path / "current" / "pointsman.yaml") as gateway:
                (tmp_path / "next").symlink_to("release-1")
                (tmp_path / "next").replace(tmp_path / "current")
                await gateway.until(lambda status: status["config_version"] == 2)
                reply = await ask(gateway.base_url, chat_request("chat"))
                return (reply.header("x-pointsman-target") or b"").decode()

    assert run(scenario()) == "a/m-1"


def test_what_needs_a_restart_is_named_and_the_rest_applies(tmp_path: Path, file: Path) -> None:
    async def scenario() -> tuple[dict[str, Any], list[Any], bytes | None]:
        async with FakeProvider(name="a") as a:
            put(file, text(a))
            async with serving(tmp_path, file) as gateway:
                server = {"listen": "127.0.0.1:9", "admin_listen": "127.0.0.1:0", "response_headers": "minimal"}
                records = {"decisions": {"path": "elsewhere.jsonl"}}
                put(file, text(a, server=server, records=records))
                status = await gateway.reload()
                reply = await ask(gateway.base_url, chat_request("chat"))
                _, log = await gateway.ended()
                assert len(gateway.records()) == 1
                return status, log, reply.header("x-pointsman-target")

    status, log, target = run(scenario())

    assert status["needs_restart"] == ["server.listen", "records.decisions.path"]
    assert (status["config_version"], target) == (2, None)
    (warning,) = [line for line in log if line["level"] == "warning"]
    assert warning["message"] == "a restart is needed for server.listen, records.decisions.path"


def test_signal_with_an_unchanged_file_says_so(tmp_path: Path, file: Path) -> None:
    async def scenario() -> tuple[dict[str, Any], list[Any]]:
        async with FakeProvider(name="a") as a:
            put(file, text(a))
            async with serving(tmp_path, file) as gateway:
                return await gateway.reload(), (await gateway.ended())[1]

    status, log = run(scenario())

    assert (status["config_version"], status["last_reload"]["result"]) == (1, "unchanged")
    assert "the configuration is unchanged, version 1 is live" in [line["message"] for line in log]
