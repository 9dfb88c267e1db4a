"""Settings of the strategy `p2c`, and of the pauses beside it."""

from pathlib import Path

import pytest

from pointsman.domain.policy import AffinityMode, Objective, RoutingPolicy
from tests.unit.config.samples import HEAD, LOCAL, load_text

GROUP = "models: {{chat: {{strategy: p2c, targets: [{{model: local/a}}, {{model: local/b}}]{more}}}}}\n"
SET = (
    ", routing_policy: {p2c: {enabled: false, objective: cost, min_weight_fraction: 0.5, warm_cache_weight: 2, "
    "warm_cache_ttl: 1m}}"
)


def policy_of(folder: Path, more: str = "", cooldown: str = "") -> RoutingPolicy:
    return load_text(folder, HEAD + LOCAL + cooldown + GROUP.format(more=more)).snapshot.groups["chat"].policy


@pytest.mark.req("G-068")
def test_group_that_names_the_strategy_alone_has_the_usual_settings(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)

    p2c, cooldown = policy.p2c, policy.cooldown
    assert (p2c.enabled, p2c.objective, p2c.min_weight_fraction) == (True, Objective.BALANCED, 0.05)
    assert (p2c.warm_cache_weight, p2c.warm_cache_ttl_s) == (8.0, 600.0)
    assert (cooldown.base_s, cooldown.max_s) == (30.0, 300.0)
    assert policy.affinity.mode is AffinityMode.STRICT


@pytest.mark.req("G-068")
def test_every_setting_can_be_another_one(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, SET, "cooldown: {base: 10s, max: 2m}\n")

    p2c, cooldown = policy.p2c, policy.cooldown
    assert (p2c.enabled, p2c.objective, p2c.min_weight_fraction) == (False, Objective.COST, 0.5)
    assert (p2c.warm_cache_weight, p2c.warm_cache_ttl_s) == (2.0, 60.0)
    assert (cooldown.base_s, cooldown.max_s) == (10.0, 120.0)
