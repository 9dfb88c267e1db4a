"""A group is written the same way whatever its strategy is."""

from pathlib import Path

import pytest

from pointsman.routing.strategies import STRATEGIES
from tests.packages import install
from tests.unit.config.samples import HEAD, LOCAL, load_text

GROUP = """\
models:
  chat:
    strategy: {strategy}
    targets:
      - {{provider: local, model_ref: org/small, weight: 70, tags: [validated, cheap]}}
      - {{provider: local, model_ref: large, weight: 30}}
"""
OWN_SECTION = {
    "plugin": "    plugin: {name: ours}\n",
    "external": "    external: {url: 'http://127.0.0.1:7000/decide'}\n",
}
PLUGIN = "class Plugin:\n    api_version = 1\n    def __init__(self, options): pass\n    def scores(self): pass\n"


@pytest.mark.req("D-010")
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_targets_have_provider_reference_weight_and_tags(
    tmp_path: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, {"ours": "plugin_of_group:Plugin"}, {"plugin_of_group": PLUGIN}))

    loaded = load_text(tmp_path, HEAD + LOCAL + GROUP.format(strategy=strategy) + OWN_SECTION.get(strategy, ""))

    group = loaded.snapshot.groups["chat"]
    assert group.policy.strategy == strategy
    found = [
        (member.target.provider, member.target.upstream_model, member.weight, member.tags) for member in group.members
    ]
    assert found == [("local", "org/small", 70, {"validated", "cheap"}), ("local", "large", 30, frozenset())]
