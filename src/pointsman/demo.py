"""`pointsman demo`: three simulated providers behind a real gateway, in one process, without a key or a network."""

import contextlib
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import typer
from msgspec import Struct

from pointsman.app import App
from pointsman.app import serve as serve_gateway
from pointsman.config.load import Loaded, load
from pointsman.testing import FakeProvider, SimulatedProfile

HOST = "127.0.0.1"
LOG_LIMIT = 1_000  # requests that a provider remembers, so that a long demo does not grow


class Character(Struct, frozen=True):
    """One simulated provider: how it behaves, and its share of the traffic to `demo`."""

    name: str
    weight: int
    ttft_s: float
    tokens_per_s: float
    error_ratio: float

    def provider(self) -> FakeProvider:
        """The provider itself, not started yet."""
        profile = SimulatedProfile(self.name, self.ttft_s, self.tokens_per_s, self.error_ratio)
        return FakeProvider(name=self.name, answer_for=profile.answer, log_limit=LOG_LIMIT)


# far enough apart that a reader sees from the speed alone who answered
CHARACTERS = (
    Character("swift", weight=60, ttft_s=0.08, tokens_per_s=120, error_ratio=0.05),
    Character("steady", weight=30, ttft_s=0.25, tokens_per_s=60, error_ratio=0.0),
    Character("thrifty", weight=10, ttft_s=0.7, tokens_per_s=20, error_ratio=0.01),
)

_CONFIGURATION = """\
version: 1
server: {{listen: 127.0.0.1:{port}, admin_listen: 127.0.0.1:{admin_port}, drain: 2s}}
auth: {{mode: none}}
records: {{decisions: {{path: decisions.jsonl, max_bytes: 64MiB}}}}
providers:
{providers}
models:
  demo:
    strategy: weighted
    targets:
{weighted}
  demo-failover:
    strategy: failover
    targets:
{listed}
"""

# 23 lines, so that all of it stays on a small terminal
_WELCOME = """\
Pointsman demo: a gateway and three simulated providers, all on this machine.

  base URL   {base_url}
  models     demo (weighted {weights}), demo-failover ({order})
  metrics    {metrics_url}
  decisions  {records}

curl -i {base_url}/chat/completions -d \\
  '{{"model": "demo", "messages": [{{"role": "user", "content": "hi"}}]}}'

from openai import OpenAI
client = OpenAI(base_url="{base_url}", api_key="unused")
hi = [{{"role": "user", "content": "hi"}}]
print(client.chat.completions.create(model="demo-failover", messages=hi))

What to watch
  x-pointsman-target    who answered: swift is quick, but fails 1 time in 20
  x-pointsman-attempts  2 where another target stepped in; the answer is whole
  the decisions file    one line per request: who could serve, who did, and why
                        (tail -f it; it goes away with the demo)

Stop with {how_to_stop}.\
"""


async def run(*, port: int, duration_s: float | None) -> None:
    """Serve until Ctrl-C or for `duration_s`; port 0 takes free ports. Raises OSError when a port cannot be had."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pointsman-demo-")))
        base_urls: dict[str, str] = {}
        for character in CHARACTERS:
            provider = await stack.enter_async_context(character.provider())
            base_urls[character.name] = provider.base_url
        loaded = _loaded(folder, _configuration(port, base_urls))
        how_to_stop = "Ctrl-C" if duration_s is None else f"Ctrl-C, or wait {duration_s:g} s"

        def say_ready(app: App) -> None:
            typer.echo(_welcome(app, loaded.settings.decisions_path, how_to_stop))

        await serve_gateway(loaded, on_ready=say_ready, duration_s=duration_s, reloads=False)


def _configuration(port: int, base_urls: Mapping[str, str]) -> str:
    return _CONFIGURATION.format(
        port=port,
        admin_port=port + 1 if port else 0,
        providers=_lines("  {name}: {{kind: vllm, base_url: '{url}'}}", base_urls),
        weighted=_lines("      - {{model: {name}/simulated, weight: {weight}}}", base_urls),
        listed=_lines("      - {{model: {name}/simulated}}", base_urls),
    )


def _lines(template: str, base_urls: Mapping[str, str]) -> str:
    """One line of the configuration per provider."""
    return "\n".join(template.format(name=c.name, weight=c.weight, url=base_urls[c.name]) for c in CHARACTERS)


def _loaded(folder: Path, text: str) -> Loaded:
    path = folder / "pointsman.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, environ={}, created_utc=int(time.time()))  # no overrides: the demo is the same everywhere


def _welcome(app: App, records: Path, how_to_stop: str) -> str:
    return _WELCOME.format(
        base_url=f"http://{HOST}:{app.port}/v1",
        weights="/".join(str(character.weight) for character in CHARACTERS),
        order=", ".join(character.name for character in CHARACTERS),
        metrics_url=f"http://{HOST}:{app.admin_port}/metrics",
        records=records,
        how_to_stop=how_to_stop,
    )
