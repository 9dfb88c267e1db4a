"""What a decision costs."""

from benchmarks.decisions import costs, table


def test_every_strategy_that_scores_is_timed_beside_the_reference() -> None:
    found = costs(["market", "p2c"], [2, 10], rounds=1)

    assert [(cost.strategy, cost.targets) for cost in found] == [("market", 2), ("market", 10), ("p2c", 2), ("p2c", 10)]
    assert all(cost.decision_us > 0 and cost.ratio > 0 for cost in found)
    assert table(found).row_count == 4
