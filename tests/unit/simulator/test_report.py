"""What people read."""

import math
from pathlib import Path

from pointsman.simulator.compare import Row, Summary
from pointsman.simulator.metrics import Metrics
from pointsman.simulator.report import COLUMNS, LEGEND, order, table, title, verdicts
from pointsman.simulator.scenario import read

PLAN = read("mine", "mine.yaml", "description: Mine.\nexpect: {regret: 0.05, failures: 0.005, detect: 5s}", Path())
WIDE = Metrics(9.9, 12.345, 1.0, 0.12345, 10.0, 20.55, 141.44, 1.234, 1.99, 0.99, math.inf, math.inf)


def summary(policy: str, *regrets: float, measured: Metrics = WIDE, plans: tuple[str, ...] = ("mine",)) -> Summary:
    return Summary(policy, tuple([Row(plan, policy, regrets, (measured,) * len(regrets)) for plan in plans]))


def test_table_fits_100_columns_whatever_the_numbers() -> None:
    for plans in (("mine",), ("mine:a", "mine:b")):
        text = table([summary("litellm-latency", 0.642, 2.921, plans=plans), summary("market", 0.1, 0.2, plans=plans)])

        assert max(map(len, text.splitlines())) <= COLUMNS
        assert "…" not in text
    assert max(map(len, LEGEND.splitlines())) <= COLUMNS


def test_ours_are_marked_and_rebuilds_are_not() -> None:
    text = table([summary("market", 0.1), summary("random", 0.2)])

    assert "market *" in text
    assert "random *" not in text


def test_reference_comes_first_and_then_the_lowest_regret() -> None:
    found = order([summary("random", 0.2), summary("market", -0.1), summary("clairvoyant", 0.0)])

    assert [each.policy for each in found] == ["clairvoyant", "market", "random"]


def test_what_never_happened_and_what_there_is_nothing_to_tell_of_are_two_things() -> None:
    quiet = Metrics(9.9, None, 1.0, 0.0, 0.5, 1.0, 2.0, 0.0, 0.0, 0.0, None, math.inf)

    assert table([summary("market", 0.1, measured=quiet)]).split()[-2:] == ["-", "never"]


def test_title_says_how_much_was_run() -> None:
    assert title(PLAN, 5, 8, 19_765) == "mine: Mine.\n19,765 requests, 5 seeds, 8 replicas"


def test_expectations_are_met_or_not() -> None:
    found = list(verdicts(PLAN, [summary("market", 0.04)]))

    assert [verdict.is_met for verdict in found] == [True, False, False]
    assert found[0].text == "market: regret at most 5 %: 4.00 %, met"
    assert found[1].text == "market: failures at most 0.5 %: 12.35 %, NOT met"
    assert found[2].text == "market: time until traffic left at most 5 s: never, NOT met"


def test_nothing_is_expected_of_a_policy_that_was_not_run() -> None:
    assert not list(verdicts(PLAN, [summary("random", 0.04)]))


def test_numbers_of_a_column_have_about_three_figures() -> None:
    texts = [table([summary("market", regret)]).split()[-12] for regret in (0.0512, 0.5126, 0.99951, 0.9996, 1.4141)]

    assert texts == ["5.1", "51.3", "100", "100", "141"]
