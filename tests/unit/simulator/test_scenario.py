"""Scenario files and what becomes of them."""

import math
from pathlib import Path

import pytest

from pointsman.config.problems import ConfigError
from pointsman.simulator.plan import Plan, Spell
from pointsman.simulator.scenario import load, read, shipped

OUTAGE = """\
timeline:
  - {targets: [b], begin: 10m, end: 11m, every: 2m, times: 2, error_ratio: 1}
  - {targets: [a, b], cache_ttl: 5m}
"""


def plan_of(text: str) -> Plan:
    return read("mine", "mine.yaml", text, Path("/somewhere"))


def problems(text: str) -> str:
    with pytest.raises(ConfigError) as refused:
        plan_of(text)
    return str(refused.value)


@pytest.mark.parametrize("name", shipped())
def test_scenario_of_the_package_has_a_description_and_a_day_of_requests_at_most(name: str) -> None:
    plan = load(name)

    assert plan.description.endswith(".")
    assert 19_000 < plan.workload.rate_per_s * plan.workload.duration_s < 21_000


def test_all_scenarios_of_the_benchmark_are_there() -> None:
    assert set(shipped()) >= {
        "steady", "slow", "blackhole", "stall", "brownout", "flapping", "price", "capacity", "cold", "outage3",
        "overload", "auth-break", "retry-after-storm", "burst", "cache", "cache-slow",
    }  # fmt: skip


def test_empty_file_is_the_default_pool_without_trouble() -> None:
    plan = plan_of("")

    assert list(plan.profiles) == ["a", "b", "c", "d", "e"]
    assert plan.moments() == [0.0]
    assert plan.spell is None
    assert (plan.first_content_s, plan.idle_s, plan.attempts) == (20.0, 20.0, 3)


def test_default_pool_is_the_documented_one() -> None:
    plan = plan_of("")

    rows = {
        name: (plan.prices[name].input, plan.prices[name].output, of.ttft_s, of.tps, of.knee, of.error_ratio)
        for name, of in plan.profiles.items()
    }

    assert rows == {
        "a": (0.50, 1.5, 0.45, 70.0, 60.0, 0.0),
        "b": (0.60, 1.8, 0.30, 110.0, 60.0, 0.0),
        "c": (0.55, 1.6, 0.90, 45.0, 40.0, 0.0),
        "d": (0.90, 2.7, 0.25, 180.0, 80.0, 0.0),
        "e": (0.40, 1.2, 1.40, 30.0, 30.0, 0.01),
    }


def test_timeline_changes_targets_for_a_while_again_and_again() -> None:
    plan = plan_of(OUTAGE)

    assert plan.moments() == [0.0, 600.0, 660.0, 720.0, 780.0]
    assert [plan.profiles_at(at)["b"].error_ratio for at in (599.0, 600.0, 660.0, 720.0, 780.0)] == [0, 1, 0, 1, 0]
    assert plan.profiles_at(600.0)["b"].cache_ttl_s == 300.0


def test_later_change_of_the_list_wins() -> None:
    plan = plan_of("timeline: [{targets: [a], max_rps: 2}, {targets: [a], begin: 30m, max_rps: 8}]")

    assert [plan.profiles_at(at)["a"].max_rps for at in (0.0, 1_800.0)] == [2, 8]


def test_trouble_is_moved_to_each_target_in_turn_and_the_rest_stays() -> None:
    plans = list(plan_of(OUTAGE).permuted())

    assert [plan.name for plan in plans] == ["mine:a", "mine:b", "mine:c", "mine:d", "mine:e"]
    assert [plan.victim for plan in plans] == ["a", "b", "c", "d", "e"]
    assert all(plan.profiles_at(0.0)["a"].cache_ttl_s == 300.0 for plan in plans)


def test_trouble_of_several_targets_is_not_moved() -> None:
    outage = plan_of("timeline: [{targets: [a, b], begin: 15m, end: 25m, error_ratio: 0.6}]")

    assert [plan.name for plan in outage.permuted()] == ["mine"]
    assert outage.spell == Spell(("a", "b"), 900.0, 1_500.0)


def test_spell_is_the_first_trouble_and_not_what_gets_better() -> None:
    plan = plan_of(
        "timeline: [{targets: [c], begin: 5m, price_factor: 0.3}, {targets: [b], begin: 10m, end: 20m, slow: 5},"
        " {targets: [d], begin: 15m, black_hole: true}]"
    )

    assert plan.spell == Spell(("b",), 600.0, 1_200.0)


def test_fewer_requests_shrink_all_times_alike() -> None:
    plan = plan_of(OUTAGE).scaled(1_991)

    assert plan.workload.rate_per_s == 5.53
    assert plan.workload.duration_s == pytest.approx(360.0, abs=0.1)
    assert plan.spell is not None
    assert plan.spell.begin_s == pytest.approx(60.0, abs=0.1)


def test_own_targets_replace_or_join_those_of_the_pool() -> None:
    own = "{n: {ttft: 300ms, tps: 120, knee: 60, price: {input: 0.35, output: 1}}}"

    assert list(plan_of(f"targets: {own}").profiles) == ["a", "b", "c", "d", "e", "n"]
    alone = plan_of(f"pool: none\ntargets: {own}")
    assert list(alone.profiles) == ["n"]
    assert alone.profiles["n"].ttft_s == 0.3


def test_trace_counts_from_the_folder_of_the_file() -> None:
    trace = plan_of("workload: {trace: mine.csv, speed: 1.6}").trace

    assert trace is not None
    assert (trace.path, trace.speed) == (Path("/somewhere/mine.csv"), 1.6)


def test_all_problems_are_told_at_once_with_their_places_and_repairs() -> None:
    told = problems(
        "timelin: []\ntimeline:\n  - {targets: [a], begin: 10m, slo: 2}\ncompare: [markt]\nworkload: {rate: 0}\n"
    )

    assert "mine.yaml:1:1: timelin: unknown key 'timelin'. Did you mean 'timeline'?" in told
    assert "mine.yaml:3:32: timeline[0].slo: unknown key 'slo'. Did you mean 'slow'?" in told
    assert "workload.rate: must be at least" in told
    assert "compare[0]: there is no policy 'markt'. Did you mean 'market'?" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("timeline: [{targets: [z], slow: 2}]", "timeline[0].targets[0]: there is no target 'z'."),
        ("timeline: [{targets: [a], begin: 10m, end: 5m}]", "timeline[0].end: must be later than `begin`"),
        ("timeline: [{targets: [a], times: 3}]", "timeline[0].times: needs `every` and `end`"),
        ("pool: none", "there is no target. Add some"),
        ("expect: {policy: nobody}", "expect.policy: there is no policy 'nobody'"),
        ("policies: {mine: {strategy: external}}", "must be one of"),
        ("policies: {market: {strategy: market}}", "policies.market: there is a policy of that name already"),
        ("targets: {n: {ttft: 1s, tps: 5, knee: 5}}", "targets.n.price: is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, told: str) -> None:
    assert told in problems(text)


def test_policy_of_a_scenario_is_one_of_ours_with_other_numbers() -> None:
    plan = plan_of("policies: {wide: {strategy: market, routing_policy: {market: {eps: 0.1}}}}\ncompare: [wide]")

    assert plan.policies["wide"].routing_policy.market.eps == 0.1


def test_unknown_scenario_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'blackhole'"):
        load("blackhol")


def test_file_of_ones_own_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("description: Mine.")

    assert load(str(path)).description == "Mine."


@pytest.mark.parametrize(("raw", "told"), [(None, "cannot read"), (b"\xff", "not UTF-8"), (b"#" * 2**21, "1 MiB")])
def test_file_that_cannot_be_read_says_why(tmp_path: Path, raw: bytes | None, told: str) -> None:
    path = tmp_path / "mine.yaml"
    if raw is not None:
        path.write_bytes(raw)

    with pytest.raises(ConfigError, match=told):
        load(str(path))


def test_change_without_an_end_is_for_good() -> None:
    (change,) = plan_of("timeline: [{targets: [a], slow: 2}]").changes

    assert (change.begin_s, change.end_s) == (0.0, math.inf)


def test_scenario_may_compare_all_policies() -> None:
    assert plan_of("compare: [all]").compare == ("all",)
