"""Means, intervals, regret."""

import math
from pathlib import Path

import pytest

from pointsman.simulator.compare import Row, Summary, compare, estimate, summaries
from pointsman.simulator.metrics import Metrics
from pointsman.simulator.scenario import read


def measured(adjusted_usd: float, detected_s: float | None = None) -> Metrics:
    return Metrics(adjusted_usd, 1.0, 1.0, 0.0, 0.5, 1.0, 2.0, 0.0, 0.0, 0.0, detected_s, None)


def test_interval_is_that_of_students_t() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])

    assert found.value == 3.0
    assert found.half == pytest.approx(2.776 * math.sqrt(2.5) / math.sqrt(5))


def test_one_seed_and_never_have_no_interval() -> None:
    assert estimate([1.0]).half is None
    assert estimate([1.0, math.inf]).half is None


def test_regret_of_a_seed_is_beyond_the_clairvoyant_of_the_same_seed() -> None:
    plan, steps = read("mine", "mine.yaml", "workload: {rate: 2, duration: 60s}", Path()), list[tuple[str, str, int]]()

    rows = list(compare([plan], ["random"], seeds=2, replicas=1, progress=lambda *step: steps.append(step)))

    random, clairvoyant = rows
    assert (random.policy, clairvoyant.policy) == ("random", "clairvoyant")
    assert clairvoyant.regrets == (0.0, 0.0)
    for regret, of, best in zip(random.regrets, random.runs, clairvoyant.runs, strict=True):
        assert regret == pytest.approx(of.adjusted_usd / best.adjusted_usd - 1.0)
    assert [(policy, seed) for _, policy, seed in steps] == [
        ("random", 1), ("clairvoyant", 1), ("random", 2), ("clairvoyant", 2),
    ]  # fmt: skip


def test_summary_is_the_mean_over_plans_of_each_seed_and_names_the_worst_plan() -> None:
    rows = (
        Row("slow:a", "market", (0.1, 0.3), (measured(1.0, 2.0), measured(1.0, 4.0))),
        Row("slow:b", "market", (0.3, 0.5), (measured(1.0, None), measured(1.0, None))),
    )
    summary = Summary("market", rows)

    assert summary.regret.value == pytest.approx(0.3)
    assert summary.worst.plan == "slow:b"
    assert summary.of("detected_s") == 3.0
    assert summary.of("recovered_s") is None


def test_there_is_one_summary_for_each_policy_over_all_plans() -> None:
    rows = [Row(plan, name, (0.2,), (measured(1.0),)) for plan in ("slow:a", "slow:b") for name in ("random", "market")]

    assert [(each.policy, len(each.rows)) for each in summaries(rows)] == [("random", 2), ("market", 2)]
