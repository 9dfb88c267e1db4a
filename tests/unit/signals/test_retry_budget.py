"""How many extra attempts a group may spend."""

import pytest

from pointsman.domain.policy import Retry
from pointsman.signals.retry_budget import RetryBudget

POLICY = Retry(budget_base=30.0, budget_ratio=0.2, budget_window_s=10.0)


def test_group_without_traffic_has_the_base() -> None:
    assert RetryBudget().left(1_000.0, POLICY) == 30


def test_each_request_adds_a_fifth_of_an_attempt() -> None:
    budget = RetryBudget()

    for _ in range(100):
        budget.request_began(1_000.0, POLICY)

    assert budget.left(1_000.0, POLICY) == 50


def test_each_extra_attempt_costs_one() -> None:
    budget = RetryBudget()

    for _ in range(31):
        budget.spend(1_000.0, POLICY)

    assert budget.left(1_000.0, POLICY) == -1


@pytest.mark.parametrize(("age_s", "left"), [(0.0, 29), (8.9, 29), (10.1, 30), (1e6, 30)])
def test_extra_attempt_is_forgotten_after_the_window(age_s: float, left: float) -> None:
    budget = RetryBudget()
    budget.spend(1_000.0, POLICY)

    assert budget.left(1_000.0 + age_s, POLICY) == left


def test_old_requests_earn_nothing_any_more() -> None:
    budget = RetryBudget()
    for _ in range(100):
        budget.request_began(1_000.0, POLICY)

    budget.request_began(1_011.0, POLICY)

    assert budget.left(1_011.0, POLICY) == pytest.approx(30.2)


@pytest.mark.trap("16")
def test_slices_that_time_passes_over_one_by_one_are_each_forgotten() -> None:
    budget = RetryBudget()

    for second in range(100):
        budget.spend(1_000.0 + second, POLICY)

    assert budget.left(1_099.0, POLICY) == 20


def test_reading_changes_nothing() -> None:
    budget = RetryBudget()
    budget.spend(1_000.0, POLICY)

    budget.left(1e9, POLICY)

    assert budget.left(1_000.0, POLICY) == 29


def test_clock_near_zero_is_a_time_like_any_other() -> None:
    budget = RetryBudget()

    budget.request_began(0.0, POLICY)
    budget.spend(0.0, POLICY)

    assert budget.left(0.0, POLICY) == pytest.approx(29.2)


def test_extra_attempts_of_an_outage_are_a_fifth_of_the_requests_and_the_base() -> None:
    budget, extra, began = RetryBudget(), 0, 4_000
    for request in range(began):  # 200 a second for 20 s, every one of which wants three extra attempts
        now = 1_000.0 + request / 200
        budget.request_began(now, POLICY)
        for _ in range(3):
            if budget.left(now, POLICY) >= 1:
                budget.spend(now, POLICY)
                extra += 1

    assert extra <= 0.2 * began + 2 * 30  # the base once per window
