"""Coding agents that do a task of two tools through a gateway.

The model behind it is a script, not a model: it calls one tool, looks at what came back, calls the other one, and says
that it is done. What is real is the agent: its requests, its tools, and what it makes of the answers.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from pointsman.app import new_loop
from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, FakeProvider, Status, ToolCall
from pointsman.testing.received import Received
from tests.e2e.compatible import CHAT, KEY, MESSAGES, OK, RESPONSES, pinned
from tests.e2e.sdk import ENVIRONMENTS
from tests.integration.harness import run_gateway, weighted

MODULES = ENVIRONMENTS / "agents" / "node_modules"
PATIENCE_S = 120
MODEL = "agent"
PROMPT = "Write hello into a.txt, and copy it to b.txt."
WORKING, DONE = "Working on it.", "All is done."
THOUGHT = "First one file, then the other."
WRITTEN = "hello\n"


class Told(Struct):
    """What a task left behind."""

    status: int
    output: str
    files: dict[str, str]
    asked: list[Received]  # by whichever provider, in order
    served_by: list[str]  # the providers that were asked
    records: list[dict[str, Any]]


class Agent(Struct, frozen=True):
    """An agent from a registry of packages."""

    package: str
    dialect: Dialect
    targets: tuple[Dialect, ...]  # what a target may be asked in
    sessions: frozenset[str]  # what may name its conversations
    steps: Callable[[Path], Sequence[ToolCall]]  # of the task, in a folder
    command: Callable[[Path, str], tuple[list[str], Mapping[str, str]]]  # in a home, for a gateway: and its environment

    @property
    def version(self) -> str:
        return pinned("agents", self.package)


def _program(scope: str, name: str) -> Path:
    """The one for this machine, which is within a package of its own."""
    found = [path for path in (MODULES / scope).rglob(name) if path.is_file()]
    if not found:
        raise LookupError(f"there is no {name} here: `make .venv/clients/agents` installs it")
    return found[0]


def _claude_steps(folder: Path) -> Sequence[ToolCall]:
    write = {"file_path": str(folder / "a.txt"), "content": WRITTEN}
    copy = {"command": "cp a.txt b.txt && wc -c b.txt", "description": "Copy"}
    return ToolCall("Write", json.dumps(write), id="toolu_1"), ToolCall("Bash", json.dumps(copy), id="toolu_2")


def _claude(home: Path, base_url: str) -> tuple[list[str], Mapping[str, str]]:
    program = _program("@anthropic-ai", "claude")
    command = [str(program), "-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"]
    return command, {
        "ANTHROPIC_BASE_URL": base_url.removesuffix("/v1"),
        "ANTHROPIC_AUTH_TOKEN": KEY,
        "ANTHROPIC_MODEL": MODEL,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # else it refuses to skip permissions for root
    }


def _codex_steps(folder: Path) -> Sequence[ToolCall]:
    write, copy = {"cmd": "echo hello > a.txt"}, {"cmd": "cp a.txt b.txt && wc -c b.txt"}
    return tuple(
        ToolCall("exec_command", json.dumps(arguments), id=f"call_{number}")
        for number, arguments in enumerate((write, copy))
    )


def _codex(home: Path, base_url: str) -> tuple[list[str], Mapping[str, str]]:
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(
        f'model = "{MODEL}"\nmodel_provider = "gateway"\nweb_search = "disabled"\n'
        f'[model_providers.gateway]\nname = "gateway"\nbase_url = "{base_url}"\n'
        'env_key = "GATEWAY_KEY"\nwire_api = "responses"\n'
    )
    program = _program("@openai", "codex")
    options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]
    return [str(program), "exec", *options, PROMPT], {"GATEWAY_KEY": KEY}


CLAUDE_CODE = Agent(
    "@anthropic-ai/claude-code", MESSAGES, (MESSAGES, CHAT, RESPONSES), frozenset(("x-claude-code-session-id",)),
    _claude_steps, _claude,
)  # fmt: skip
CODEX = Agent(
    "@openai/codex", RESPONSES, (RESPONSES, CHAT, MESSAGES), frozenset(("session-id", "thread-id")),
    _codex_steps, _codex,
)  # fmt: skip
AGENTS = (CLAUDE_CODE, CODEX)


def results_in(body: Mapping[str, Any]) -> list[str]:
    """What tools have given back so far, in whichever dialect."""
    found: list[str] = []
    for said in body.get("messages") or body["input"]:
        if said.get("role") == "tool":
            found.append(json.dumps(said["content"]))
        elif said.get("type") == "function_call_output":
            found.append(json.dumps(said["output"]))
        elif isinstance(said.get("content"), list):
            parts = (part for part in said["content"] if part.get("type") == "tool_result")
            found += [json.dumps(part["content"]) for part in parts]
    return found


def tools_in(body: Mapping[str, Any]) -> list[str]:
    """The names of all tools that are offered, in whichever dialect; one in a namespace as over a bridge."""
    found: list[str] = []
    for tool in body.get("tools", ()):
        if tool.get("type") == "namespace":
            found += [f"{tool['name']}__{inner['name']}" for inner in tool["tools"]]
        else:
            found.append(tool.get("function", tool)["name"])
    return found


def scripted(steps: Sequence[ToolCall], *, fails_at: int | None = None) -> Callable[[Received], Answer]:
    """The model. `fails_at`: the step at which this provider is down."""

    def answer(received: Received) -> Answer:
        body = received.json()
        if not body.get("tools"):
            return Chat("A title")  # asked for beside the task
        step = len(results_in(body))
        if step == fails_at:
            return Status(500)
        if step < len(steps):
            return Chat(WORKING, tool_calls=(steps[step],), reasoning=THOUGHT)
        return Chat(DONE)

    return answer


def told(folder: Path, agent: Agent, *spoken: Dialect, fails_at: int | None = None, **fields: object) -> Told:
    """What came of the task, with a provider for each dialect in `spoken`, which make up a group with these fields.

    `fails_at`: the step at which the first one is down. A provider of the agent's own dialect is of the vendor's kind.
    """

    async def scene() -> Told:
        work, home = folder / "work", folder / "home"
        for each in (work, home):
            each.mkdir()
        steps = agent.steps(work)
        first = FakeProvider(name="p0", answer_for=scripted(steps, fails_at=fails_at))
        others = [FakeProvider(name=f"p{number}", answer_for=scripted(steps)) for number in range(1, len(spoken))]
        providers = [first, *others]
        async with asyncio.TaskGroup() as starting:
            for provider in providers:
                starting.create_task(provider.start())
        try:
            kinds = {
                provider.name: {"kind": KIND[dialect], "dialects": [dialect.value]}
                for provider, dialect in zip(providers, spoken, strict=True)
            }
            groups = {MODEL: weighted(providers, [1] * len(providers), **fields)}
            async with run_gateway(folder, *providers, groups=groups, provider_fields=kinds) as gateway:
                status, output = await _run(*agent.command(home, gateway.base_url), work, home)
                records = await gateway.records()
        finally:
            for provider in providers:
                await provider.stop()
        asked = sorted(
            ((request.received_at, provider.name, request) for provider in providers for request in provider.log),
            key=lambda each: each[0],
        )
        files = {path.name: path.read_text() for path in sorted(work.iterdir())}
        return Told(status, output, files, [each for *_, each in asked], [name for _, name, _ in asked], records)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scene())


KIND = {MESSAGES: "anthropic", CHAT: "vllm", RESPONSES: "openai"}


async def _run(command: list[str], environment: Mapping[str, str], work: Path, home: Path) -> tuple[int, str]:
    usual = {"HOME": str(home), "PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=work, env={**usual, **environment}, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, output.decode()


def result(folder: Path, agent: Agent, spoken: Dialect) -> str:
    """What came of the task on a target that speaks one dialect, in a word."""
    about = json.loads((MODULES / agent.package / "package.json").read_bytes())
    if about["version"] != agent.version:
        return f"it is not release {agent.version}"
    found = told(folder, agent, spoken)
    is_done = (found.status, found.files) == (0, {"a.txt": WRITTEN, "b.txt": WRITTEN}) and DONE in found.output
    return OK if is_done else f"status {found.status}: {found.output[-300:]}"
