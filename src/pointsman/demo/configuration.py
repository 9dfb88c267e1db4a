"""The configuration that the demo's gateway runs with: a file like any other."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from pointsman.config.load import Loaded, load
from pointsman.demo.providers import CHARACTERS

GROUP = "demo"

# pauses of 3 to 6 s instead of 30 to 300 s, so that an outage and the way back fit into a minute
_CONFIGURATION = """\
version: 1
server: {{listen: 127.0.0.1:{port}, admin_listen: 127.0.0.1:{admin_port}, drain: 2s}}
auth: {{mode: none}}
records: {{decisions: {{path: decisions.jsonl, max_bytes: 64MiB}}}}
adaptive: {{enabled: true}}
cooldown: {{base: 3s, max: 6s}}
providers:
{providers}
models:
  {group}:
    strategy: {strategy}
    routing_policy: {routing_policy}
    targets:
{weighted}
  {group}-failover:
    strategy: failover
    targets:
{listed}
prices:
  overrides:
{prices}
"""

# the demo's requests cost next to nothing: time must be worth more, or the cheapest provider would always serve
_POLICIES = {
    "market": "{market: {usd_per_second: 0.002}}",
    "dynamic_score": "{dynamic_score: {score_terms: [{name: best, "
    "expression: 0.4 * cost_score + 0.3 * latency_score + 0.3 * reliability_score}]}}",
}


class Document(Struct, frozen=True):
    """`pointsman.yaml` in a folder; port 0 takes free ports."""

    folder: Path
    port: int
    strategy: str
    base_urls: Mapping[str, str]

    @property
    def path(self) -> Path:
        return self.folder / "pointsman.yaml"

    def write(self, price_ratios: Mapping[str, float] = MappingProxyType({})) -> None:
        """`price_ratios`: of the usual prices, by provider. A gateway that runs reads it again by itself."""
        self.path.write_text(_text(self, price_ratios), encoding="utf-8")

    def load(self) -> Loaded:
        return load(self.path, environ={}, created_utc=int(time.time()))  # no overrides: the same everywhere


def _text(document: Document, price_ratios: Mapping[str, float]) -> str:
    port, strategy, base_urls = document.port, document.strategy, document.base_urls
    return _CONFIGURATION.format(
        port=port,
        admin_port=port + 1 if port else 0,
        group=GROUP,
        strategy=strategy,
        routing_policy=_POLICIES.get(strategy, "{}"),
        providers=_lines("  {name}: {{kind: vllm, base_url: '{url}'}}", base_urls),
        weighted=_lines("      - {{model: {name}/simulated, weight: {weight}}}", base_urls),
        listed=_lines("      - {{model: {name}/simulated}}", base_urls),
        prices=_lines("    {name}/simulated: {{input: {usd[0]:g}, output: {usd[1]:g}}}", base_urls, price_ratios),
    )


def _lines(
    template: str, base_urls: Mapping[str, str], price_ratios: Mapping[str, float] = MappingProxyType({})
) -> str:
    """One line of the configuration per provider."""
    return "\n".join(
        template.format(
            name=c.name,
            weight=c.weight,
            url=base_urls[c.name],
            usd=[usd * price_ratios.get(c.name, 1.0) for usd in c.usd_per_mtok],
        )
        for c in CHARACTERS
    )
