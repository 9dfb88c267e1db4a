"""The real SDKs, each in its newest and in an older release: all in environments and processes of their own."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeAlias

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "clients"
ENVIRONMENTS = ROOT / ".venv" / "clients"
CLIENTS = {name: ENVIRONMENTS / f"openai-{name}" / "bin" / "python" for name in ("2", "3")}
NEWEST = "3"
ANTHROPIC = {name: ENVIRONMENTS / f"anthropic-{name}" / "bin" / "python" for name in ("0", "2")}
PATIENCE_S = 60

Answer: TypeAlias = dict[str, Any]  # a line of openai_crowd.py


def said(client: str, base_url: str, model: str, name: str, key: str = "sk-caller") -> dict[str, Any]:
    """What OpenAI's SDK saw of one call of openai_calls.py."""
    return _seen(CLIENTS[client], "openai_calls.py", base_url, model, name, key)


def saw(client: str, base_url: str, model: str, name: str, key: str = "sk-caller") -> dict[str, Any]:
    """What OpenAI's SDK saw of one call of openai_paths_calls.py."""
    return _seen(CLIENTS[client], "openai_paths_calls.py", base_url, model, name, key)


def told(client: str, base_url: str, model: str, name: str, key: str = "sk-caller") -> dict[str, Any]:
    """What Anthropic's SDK saw of one call of anthropic_calls.py; it adds /v1 to its base URL itself."""
    return _seen(ANTHROPIC[client], "anthropic_calls.py", base_url.removesuffix("/v1"), model, name, key)


def _seen(python: Path, script: str, *arguments: str) -> dict[str, Any]:
    command = [str(python), str(SCRIPTS / script), *arguments]
    seen: dict[str, Any] = json.loads(subprocess.check_output(command, timeout=PATIENCE_S))  # noqa: S603  # our script
    return seen


class Crowd:
    """Many callers that ask again and again, until they leave or the block ends, and what they got so far."""

    answers: list[Answer]

    def __init__(self, base_url: str, model: str, kind: str) -> None:
        self._arguments = (str(SCRIPTS / "openai_crowd.py"), base_url, model, kind)

    async def __aenter__(self) -> Self:
        self.answers = []
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = await asyncio.create_subprocess_exec(str(CLIENTS[NEWEST]), *self._arguments, **pipes)
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.leave()
        finally:
            if self._process.returncode is None:
                self._process.kill()

    async def leave(self) -> None:
        """Ask no more, and wait for the answers that are on their way."""
        self._process.stdin.close()
        async with asyncio.timeout(PATIENCE_S):
            while await self._next():
                pass
            await self._process.wait()

    async def until(self, is_there: Callable[[Answer], bool], count: int = 1, *, patience_s: float) -> None:
        """Read on until so many answers more are as wanted; raises `TimeoutError` if they do not come."""
        async with asyncio.timeout(patience_s):
            while count:
                answer = await self._next()
                if answer is None:
                    raise AssertionError("the crowd has left")
                count -= is_there(answer)

    async def _next(self) -> Answer | None:
        line = await self._process.stdout.readline()
        if not line:
            return None
        self.answers.append(json.loads(line))
        return self.answers[-1]
