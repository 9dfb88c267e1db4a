"""A task of two tools that an agent does through a gateway.

The model behind it is a script, not a model: it calls one tool, looks at what came back, calls the other one, and says
that it is done. What is real is the agent: its requests, its tools, and what it makes of the answers.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct

from pointsman.app import new_loop
from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, FakeProvider, Status, ToolCall, stream_of
from pointsman.testing.provider import DIALECT_BY_PATH
from pointsman.testing.received import Received
from tests.e2e.agents import MODULES, PROMPT, WRITTEN, Agent
from tests.e2e.compatible import CHAT, MESSAGES, OK, RESPONSES
from tests.integration.harness import run_gateway, weighted

PATIENCE_S = 120
WORKING, DONE, DELEGATED = "Working on it.", "All is done.", "The other one is done."
THOUGHT = "First one file, then the other."
KINDS = {MESSAGES: "anthropic", CHAT: "vllm", RESPONSES: "openai"}


class Told(Struct):
    """What a task left behind."""

    status: int
    output: str
    files: dict[str, str]
    asked: list[Received]  # by whichever provider, in order
    served_by: list[str]  # the providers that were asked
    records: list[dict[str, Any]]


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


def scripted(
    steps: Sequence[ToolCall], *, fails_at: int | None = None, breaks_at: int | None = None
) -> Callable[[Received], Answer]:
    """The model. `fails_at`: the step at which this provider is down; `breaks_at`: where one answer breaks off."""
    broken: list[int] = []

    def answer(received: Received) -> Answer:
        body = received.json()
        if not body.get("tools"):
            return Chat("A title")  # asked for beside the task
        if PROMPT not in received.body.decode():
            return Chat(DELEGATED)  # by an agent to another one
        step = len(results_in(body))
        if step == fails_at:
            return Status(500)
        if step == breaks_at and not broken:
            broken.append(step)
            return stream_of(WORKING, then="cut", dialect=DIALECT_BY_PATH[received.path.removeprefix("/v1")])
        if step < len(steps):
            return Chat(WORKING, tool_calls=(steps[step],), reasoning=THOUGHT)
        return Chat(DONE)

    return answer


def told(
    folder: Path,
    agent: Agent,
    *spoken: Dialect,
    fails_at: int | None = None,
    breaks_at: int | None = None,
    **fields: object,
) -> Told:
    """What came of the task, with a provider for each dialect in `spoken`, which make up a group with these fields.

    `fails_at`, `breaks_at`: the step at which the first one is down, or breaks an answer off. Providers are of the kind
    of who made their dialect.
    """

    async def scene() -> Told:
        work, home = folder / "work", folder / "home"
        for each in (work, home):
            each.mkdir()
        steps = agent.steps(work)
        first = FakeProvider(name="p0", answer_for=scripted(steps, fails_at=fails_at, breaks_at=breaks_at))
        others = [FakeProvider(name=f"p{number}", answer_for=scripted(steps)) for number in range(1, len(spoken))]
        providers = [first, *others]
        kinds = {
            provider.name: {"kind": KINDS[dialect], "dialects": [dialect.value]}
            for provider, dialect in zip(providers, spoken, strict=True)
        }
        drops = {"drop_params": "warn"} if agent.knows_model else {}  # `verbosity`, which Messages does not have
        groups = {agent.model: weighted(providers, [1] * len(providers), **drops, **fields)}
        async with AsyncExitStack() as stack:
            for provider in providers:
                await stack.enter_async_context(provider)
            gateway = await stack.enter_async_context(
                run_gateway(folder, *providers, groups=groups, provider_fields=kinds)
            )
            status, output = await _run(*agent.command(home, gateway.base_url, agent.model), work, home)
            records = await gateway.records()
        asked = sorted(
            ((request.received_at, provider.name, request) for provider in providers for request in provider.log),
            key=lambda each: each[0],
        )
        files = {path.name: path.read_text() for path in sorted(work.iterdir())}
        return Told(status, output, files, [each for *_, each in asked], [name for _, name, _ in asked], records)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scene())


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
