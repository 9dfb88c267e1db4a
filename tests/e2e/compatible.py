"""Clients that run by themselves against a gateway: which there are, and what one of them sees."""

import json
import re
import subprocess
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from pointsman.domain.request import Dialect
from tests.e2e.sdk import ENVIRONMENTS, ROOT, SCRIPTS

CHAT, RESPONSES, MESSAGES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES
SPOKEN = (CHAT, MESSAGES, RESPONSES)  # by the targets, each of which speaks one of them only
REQUIREMENTS = ROOT / "requirements"
PATIENCE_S = 120
KEY = "sk-caller"

# what a client has to see of a model that recites (tests/e2e/engine/recital.py), white space around it aside
CALL = ["get_weather", {"city": "Oslo"}]
SEEN: Mapping[str, Any] = MappingProxyType({
    "unary": "This is alpha.", "stream": "This is alpha.", "tools": CALL, "streamed tools": CALL,
    "results": "It rains, says alpha.", "streamed results": "It rains, says alpha.",
})  # fmt: skip

_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")


class ClientError(Exception):
    """A client did not get through; in its own words."""


class Client(Struct, frozen=True):
    """A client in an environment of its own, which `make` builds from a lock file."""

    package: str
    environment: str
    script: str
    dialects: tuple[Dialect, ...]
    mark: str = ""  # of its tests; "": they run on every change

    @property
    def language(self) -> str:
        return "JavaScript" if self.script.endswith("mjs") else "Python"

    @property
    def version(self) -> str:
        """As it is pinned."""
        return pinned(self.environment, self.package)

    def seen(self, base_url: str, model: str, dialect: Dialect) -> dict[str, Any]:
        """What it sees, as SEEN, and its version."""
        folder = ENVIRONMENTS / self.environment
        if not folder.exists():
            raise LookupError(f"there is no {self.package} here: `make .venv/clients/{self.environment}` installs it")
        is_js = self.language == "JavaScript"
        program = "node" if is_js else str(folder / "bin" / "python")
        command = [program, str(SCRIPTS / self.script), base_url, model, KEY, dialect, *[self.package] * is_js]
        reply = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False)  # noqa: S603
        if reply.returncode:
            lines = reply.stderr.decode().strip().splitlines()
            raise ClientError(next((line for line in lines if _ERROR.match(line)), lines[-1] if lines else "it failed"))
        seen: dict[str, Any] = json.loads(reply.stdout.splitlines()[-1])  # some say more before
        return {name: value.strip() if isinstance(value, str) else value for name, value in seen.items()}


def pinned(environment: str, package: str) -> str:
    """The version of a package in the lock file of an environment."""
    file = REQUIREMENTS / environment / "package-lock.json"
    if file.exists():
        version: str = json.loads(file.read_bytes())["packages"][f"node_modules/{package}"]["version"]
        return version
    text = (REQUIREMENTS / f"client-{environment}.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(package)}(?:\[[^]]*\])?==(\S+)", text, re.MULTILINE)
    if found is None:
        raise LookupError(f"{package} is not among the requirements of {environment}")
    return found.group(1)


CLIENTS = (
    Client("openai", "openai-2", "vendor_calls.py", (CHAT, RESPONSES), "clients"),
    Client("openai", "openai-3", "vendor_calls.py", (CHAT, RESPONSES), "clients"),
    Client("anthropic", "anthropic-0", "vendor_calls.py", (MESSAGES,), "clients"),
    Client("anthropic", "anthropic-2", "vendor_calls.py", (MESSAGES,), "clients"),
    Client("langchain-openai", "langchain-openai", "langchain_calls.py", (CHAT, RESPONSES)),
    Client("langchain-anthropic", "langchain-anthropic", "langchain_calls.py", (MESSAGES,)),
    Client("pydantic-ai-slim", "pydantic-ai", "pydantic_ai_calls.py", SPOKEN, "clients"),
    Client("openai-agents", "openai-agents", "openai_agents_calls.py", (CHAT, RESPONSES), "clients"),
    Client("litellm", "litellm", "litellm_calls.py", (CHAT, MESSAGES), "clients"),
    Client("openai", "js", "js_calls.mjs", (CHAT, RESPONSES), "js"),
    Client("@anthropic-ai/sdk", "js", "js_calls.mjs", (MESSAGES,), "js"),
    Client("ai", "js", "js_calls.mjs", SPOKEN, "js"),
)


# what a client cannot read of llama.cpp's own answers, with or without a gateway: its first event has no `output`
UNREADABLE = frozenset((("openai", "js"), ("ai", "js")))  # in Responses
OK, AS_WITHOUT = "ok", "as without Pointsman"

CASES = tuple((client, dialect) for client in CLIENTS for dialect in client.dialects)


def expected(client: Client, dialect: Dialect, spoken: Dialect) -> str:
    """What `result` has to say."""
    is_own = dialect is RESPONSES and spoken is RESPONSES
    return AS_WITHOUT if is_own and (client.package, client.environment) in UNREADABLE else OK


def result(client: Client, dialect: Dialect, *, gateway_url: str, engine_url: str) -> str:
    """What came of trying; if it is not well, the engine is asked without a gateway, too."""
    found = _tried(client, gateway_url, dialect)
    if found == OK:
        return OK
    return AS_WITHOUT if found == _tried(client, engine_url, dialect) else found


def _tried(client: Client, base_url: str, dialect: Dialect) -> str:
    try:
        seen = client.seen(base_url, "chat", dialect)
    except ClientError as error:
        return str(error)
    if seen.pop("version") != client.version:
        return f"it is not release {client.version}"
    wrong = {name: seen.get(name) for name, value in SEEN.items() if seen.get(name) != value}
    return f"seen: {wrong}" if wrong else OK
