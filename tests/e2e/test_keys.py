"""Keys as an operator makes and uses them, with real processes; and everything these wrote, searched for secrets."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from pointsman.app import new_loop
from pointsman.testing import FakeProvider, Status, stream_of
from pointsman.testing.wire import Wire, chat_request, post
from tests.canaries import leaks

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 20
PROVIDER_KEY = "sk-of-the-provider-0123456789"
WRONG = "sk-pasted-by-mistake-0123456789"

CONFIGURATION = """\
version: 1
server: {{listen: 127.0.0.1:0, admin_listen: 127.0.0.1:0, drain: 1s}}
auth:
  mode: keys
  keys:
{keys}
logs: {{level: debug, requests: true}}
providers:
  a: {{kind: vllm, base_url: '{a}', api_key: '${{PROVIDER_KEY}}'}}
  b: {{kind: vllm, base_url: '{b}', headers: {{x-tenant: '${{PROVIDER_KEY}}'}}}}
models:
  chat: {{strategy: failover, targets: [{{model: a/m}}, {{model: b/m}}]}}
  broken: {{targets: [{{model: a/broken}}]}}
  foreign: {{targets: [{{model: b/foreign}}]}}
"""


class Made(Struct):
    """What `keys create` printed."""

    secret: str
    line: str

    @property
    def digest(self) -> str:
        (found,) = re.findall(r"hmac-sha256:(\w+)", self.line)
        return str(found)


class Operator:
    """Someone with a folder, a configuration and a shell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "pointsman.yaml"
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT / "src"), "XDG_STATE_HOME": str(folder / "state"), "PROVIDER_KEY": PROVIDER_KEY,
        }  # fmt: skip
        self.keys: list[Made] = []
        self.said = ""  # by everything but `keys create` when it made one

    def configure(self, a: str, b: str) -> None:
        lines = "".join(f"    {made.line}\n" for made in self.keys) or "    []\n"
        self.file.write_text(CONFIGURATION.format(keys=lines, a=a, b=b))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pointsman", *arguments]
        return subprocess.run(  # noqa: S603  # our own command
            command, env=self.environment, cwd=self.folder, text=True, capture_output=True, timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip

    def create(self, *options: str) -> Made:
        """Make a key, and remember it for the next `configure`."""
        done = self.run("keys", "create", *options)
        assert done.returncode == 0, done.stderr
        made = Made(done.stdout.splitlines()[0], re.findall(r"- \{.*\}", done.stdout)[0])
        self.keys.append(made)
        self.said += done.stderr
        return made

    def fail(self, *arguments: str) -> None:
        """Run a command that must end with 1; what it says is kept."""
        done = self.run(*arguments)
        assert done.returncode == 1
        self.said += done.stdout + done.stderr

    @contextmanager
    def serving(self) -> Iterator[tuple[str, str]]:
        """The addresses of a running gateway; what it said is kept."""
        command = [sys.executable, "-m", "pointsman", "serve"]
        process = subprocess.Popen(  # noqa: S603  # our own command
            command, env=self.environment, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            assert process.stderr is not None
            for line in process.stderr:
                self.said += line
                if ports := re.findall(r"on port (\d+)", line):
                    break
            yield f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"
            process.send_signal(signal.SIGTERM)
            self.said += "".join(process.communicate(timeout=PATIENCE_S))
            assert process.returncode == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def files(self) -> str:
        """All that is in the state folder, but for the pepper."""
        found = [path for path in (self.folder / "state").rglob("*") if path.is_file() and path.name != "pepper"]
        assert found
        return "".join(path.read_text() for path in found)


async def answer(base_url: str, raw: bytes) -> bytes:
    """Every byte of an answer."""
    async with await Wire.open(base_url) as wire:
        wire.send(raw)
        await wire.end()
        return bytes(wire.received)


def by(key: str, model: str = "chat", *, stream: bool = False, **fields: object) -> bytes:
    return chat_request(model, headers=(("x-api-key", key), ("connection", "close")), stream=stream, **fields)


def get(path: str, key: str, header: str = "authorization: Bearer ") -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: a\r\n{header}{key}\r\nconnection: close\r\n\r\n".encode()


def traffic(good: str, spare: str) -> list[bytes]:
    """Requests of every kind, and of every way to go wrong.

    No key is a name of a model or an id: these are the caller's own words, and are repeated to it.
    """
    closing = ("connection", "close")
    packed = (("x-api-key", good), ("content-encoding", "gzip"), closing)
    conflicting = (("x-api-key", good), ("api-key", WRONG), closing)
    return [
        by(good), by(good, stream=True), by(good, "broken"), by(good, "broken", stream=True),
        by(good, "foreign"), by(good, "nobodys"), by(spare), by(WRONG), by(good + "x"),
        by(good, pad="x" * 200_000), by(WRONG, pad="x" * 200_000), by(good).replace(b'{"model"', b'["model"'),
        by(good).replace(b"content-length: ", b"content-length: 99999999"),
        post("/v1/chat/completions", b"{}", packed), post("/v1/chat/completions", b"{}", conflicting),
        get("/v1/models", good), get(f"/v1/x?key={good}", good), get(f"/{good}", WRONG), get(f"/v1/{good}", good),
        get("/v1/models", good, "authorization: Basic "), get("/v1/models", f"{good}\x01"),
        get("/v1/models", good, "host: b\r\nauthorization: Bearer "),
    ]  # fmt: skip


@pytest.mark.case("T98", "I14")
@pytest.mark.bug("N-06", "N-07", "N-08")
def test_no_key_no_hash_and_no_pepper_is_in_anything_that_processes_write(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    heard: list[bytes] = []

    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b", default=stream_of("one", "two", then="cut")) as b,
        ):
            operator.configure(a.base_url, b.base_url)
            good = operator.create("--name", "good", "--models", "chat", "--models", "broken").secret
            operator.configure(a.base_url, b.base_url)
            spare = operator.create("--name", "spare", "--scope", "explain").secret
            operator.configure(a.base_url, b.base_url)
            with operator.serving() as (base_url, admin_url):
                heard.extend([await answer(base_url, raw) for raw in traffic(good, spare)])
                heard.extend([await answer(admin_url, get(path, good)) for path in ("/metrics", f"/{good}")])

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())
    operator.file.write_text(operator.file.read_text().replace("models:", "modles:"))
    for command in (("check",), ("serve",), ("keys", "create", "--name", "good")):
        operator.fail(*command)

    said, files = operator.said, operator.files()
    written = {"said": said.encode(), "files": files.encode(), "heard": b"".join(heard)}
    pepper = (tmp_path / "state" / "pointsman" / "pepper").read_text().strip()
    secrets = [pepper, PROVIDER_KEY, WRONG, *(text for made in operator.keys for text in (made.secret, made.digest))]
    assert leaks(written, secrets) == []
    assert [reply.split(b" ")[1] for reply in heard].count(b"401") >= 6
    assert '"caller":"good"' in files
    assert '"message": "request"' in said
    assert leaks({"a planted one": f"x {pepper} y".encode()}, secrets)
