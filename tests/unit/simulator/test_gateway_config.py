"""The configuration of a simulated gateway."""

from pathlib import Path

from pointsman.domain.policy import MARKET
from pointsman.simulator.gateway_config import snapshot
from pointsman.simulator.nodes import GROUP
from pointsman.simulator.plan import Plan
from pointsman.simulator.runs import phases
from pointsman.simulator.scenario import read
from pointsman.simulator.schema import PolicySection

OURS = PolicySection(strategy="market")


def plan_of(text: str) -> Plan:
    return read("mine", "mine.yaml", text, Path())


def test_group_is_what_production_compiles_of_it() -> None:
    plan = plan_of("attempts: 2")

    group = snapshot(plan, OURS, plan.profiles, 1).groups[GROUP]

    assert group.policy.strategy == "market"
    assert group.policy.cooldown == MARKET
    assert group.policy.retry.max_attempts == 2
    assert [member.target.provider for member in group.members] == ["a", "b", "c", "d", "e"]


def test_price_that_changes_is_another_price_of_the_same_target() -> None:
    before, after = phases(plan_of("timeline: [{targets: [b], begin: 20m, price_factor: 3}]"), OURS)

    first, second = (phase.snapshot.groups[GROUP].members[1].target for phase in (before, after))
    assert first.price is not None
    assert second.price is not None
    assert second.price.rates.input == 3 * first.price.rates.input
    assert second.price.rates.cache_read == 3 * first.price.rates.cache_read
    assert second.state_key == first.state_key


def test_trouble_that_no_configuration_knows_of_changes_nothing_in_it() -> None:
    before, after = phases(plan_of("timeline: [{targets: [b], begin: 20m, slow: 3}]"), OURS)

    assert after.snapshot.groups[GROUP] is before.snapshot.groups[GROUP]


def test_target_that_is_absent_is_not_in_the_group_until_it_is_there() -> None:
    before, after = phases(plan_of("timeline: [{targets: [e], end: 20m, absent: true}]"), OURS)

    sizes = [len(phase.snapshot.groups[GROUP].members) for phase in (before, after)]
    assert sizes == [4, 5]
