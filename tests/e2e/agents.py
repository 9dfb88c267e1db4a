"""Coding agents as they are published, how each is set up, and the calls by which it gets a task done."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from pointsman.domain.request import Dialect
from pointsman.testing import ToolCall
from tests.e2e.compatible import CHAT, KEY, MESSAGES, RESPONSES, pinned
from tests.e2e.sdk import ENVIRONMENTS

MODULES = ENVIRONMENTS / "agents" / "node_modules"
PROMPT = "Write hello into a.txt, and copy it to b.txt."
WRITTEN = "hello\n"


class Agent(Struct, frozen=True):
    """An agent from a registry of packages."""

    package: str
    dialect: Dialect
    targets: tuple[Dialect, ...]  # what a target may be asked in
    sessions: frozenset[str]  # what may name its conversations
    steps: Callable[[Path], Sequence[ToolCall]]  # of the task, in a folder
    command: Callable[[Path, str, str], tuple[list[str], Mapping[str, str]]]  # in a home, for a gateway and a group
    model: str = "agent"  # the name of the group: what an agent knows by name it asks otherwise

    @property
    def name(self) -> str:
        """With the name of its model, where that makes a difference."""
        return f"{self.package}, model `{self.model}`" if self.knows_model else self.package

    @property
    def knows_model(self) -> bool:
        return self.model != "agent"

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


def _delegating_steps(folder: Path) -> Sequence[ToolCall]:
    """The same, after an agent of its own has done something."""
    ask = {"description": "Look", "prompt": "Look around.", "subagent_type": "general-purpose"}
    return ToolCall("Agent", json.dumps(ask), id="toolu_0"), *_claude_steps(folder)


def _claude(home: Path, base_url: str, model: str) -> tuple[list[str], Mapping[str, str]]:
    program = _program("@anthropic-ai", "claude")
    command = [str(program), "-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"]
    return command, {
        "ANTHROPIC_BASE_URL": base_url.removesuffix("/v1"),
        "ANTHROPIC_AUTH_TOKEN": KEY,
        "ANTHROPIC_MODEL": model,
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


PATCH = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n"


def _patching_steps(folder: Path) -> Sequence[ToolCall]:
    """With a tool that takes a text, a search for more tools, and one that was found by it."""
    return (
        ToolCall("apply_patch", json.dumps({"input": PATCH}), id="call_0"),
        ToolCall("tool_search", '{"query": "agent"}', id="call_1"),
        ToolCall("multi_agent_v1__close_agent", json.dumps({"target": NOBODY}), id="call_2"),
        ToolCall("exec_command", '{"cmd": "cp a.txt b.txt && wc -c b.txt"}', id="call_3"),
    )


def _composing_steps(folder: Path) -> Sequence[ToolCall]:
    """With a tool that takes a program, and a function, each in a namespace that comes with the conversation."""
    command = "echo hello > a.txt && cp a.txt b.txt && wc -c b.txt"
    program = f'const done = await tools.exec_command({{cmd: "{command}"}}); text(done.output);'
    return (
        ToolCall("collaboration__list_agents", id="call_0"),
        ToolCall("functions__exec", json.dumps({"input": program}), id="call_1"),
    )


NOBODY = "01a22f20-4dff-79e0-964f-0576ba5ffc5e"


def _codex(home: Path, base_url: str, model: str) -> tuple[list[str], Mapping[str, str]]:
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(
        f'model = "{model}"\nmodel_provider = "gateway"\nweb_search = "disabled"\n'
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
DELEGATING_CLAUDE_CODE = structs.replace(CLAUDE_CODE, steps=_delegating_steps)
CODEX = Agent(
    "@openai/codex", RESPONSES, (RESPONSES, CHAT, MESSAGES), frozenset(("session-id", "thread-id")),
    _codex_steps, _codex,
)  # fmt: skip
# the script does not speak as OpenAI's models do, so what they have to themselves comes over a bridge only
PATCHING_CODEX = structs.replace(CODEX, model="gpt-5.5", targets=(CHAT, MESSAGES), steps=_patching_steps)
COMPOSING_CODEX = structs.replace(CODEX, model="gpt-6.2-sol", targets=(CHAT, MESSAGES), steps=_composing_steps)
AGENTS = (CLAUDE_CODE, CODEX, PATCHING_CODEX, COMPOSING_CODEX)
