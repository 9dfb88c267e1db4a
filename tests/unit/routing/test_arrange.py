"""In which order a request wants a group to be tried."""

import pytest

from pointsman.domain.policy import AffinityMode, Detail
from pointsman.domain.preferences import Preferences, Sort
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import Signal
from pointsman.routing.arrange import arranged, sorted_by
from pointsman.testing import builders

GROUP = builders.group("chat", "a/m", "b/m", "c/m", "b/n")


def ids(group: ModelGroup) -> list[str]:
    return [member.target.id for member in group.members]


def test_without_a_wish_the_group_is_itself() -> None:
    assert arranged(GROUP, Preferences(zdr=True)) is GROUP


@pytest.mark.req("C-15")
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (("c", "b"), ["c/m", "b/m", "b/n", "a/m"]),
        (("b/n",), ["b/n", "a/m", "b/m", "c/m"]),
        (("nobody", "C"), ["c/m", "a/m", "b/m", "b/n"]),
    ],
)
def test_named_ones_come_first_and_the_rest_stays_as_it_was(order: tuple[str, ...], expected: list[str]) -> None:
    group = arranged(GROUP, Preferences(order=order, sort=Sort.PRICE))

    assert ids(group) == expected
    assert (group.name, group.policy.strategy) == ("chat", "failover")


def test_sort_by_price_is_the_strategy_of_the_cheapest_and_wants_to_know_the_length() -> None:
    group = arranged(GROUP, Preferences(sort=Sort.PRICE))

    assert (ids(group), group.policy.strategy, group.policy.compares_prices) == (ids(GROUP), "cost", True)
    assert group.policy.scan.plain_up_to_tokens < 0


@pytest.mark.parametrize("sort", [Sort.LATENCY, Sort.THROUGHPUT])
def test_sort_by_speed_measures_what_it_compares_and_compares_no_prices(sort: Sort) -> None:
    policy = arranged(GROUP, Preferences(sort=sort)).policy

    assert (policy.strategy, policy.compares_prices) == (sort.value, False)
    assert {Signal.TTFT, Signal.LOAD_SLOPE} <= policy.reads


ANY_SORT = [Preferences(sort=sort) for sort in Sort]


@pytest.mark.parametrize("wish", [Preferences(order=("b",)), *ANY_SORT])
def test_no_session_stays_where_the_request_does_not_want_to_go(wish: Preferences) -> None:
    sticky = builders.group("chat", "a/m", "b/m", strategy="p2c")

    policy = arranged(sticky, wish).policy

    assert (policy.affinity.mode, policy.decides) == (AffinityMode.OFF, policy.strategy)
    assert Detail.SESSION not in policy.details


@pytest.mark.req("O-001", "O-060", "O-061")
@pytest.mark.parametrize("wish", [Preferences(order=("b",)), *ANY_SORT])
def test_market_is_skipped_and_goes_on_learning_what_is_cached(wish: Preferences) -> None:
    policy = arranged(builders.group("chat", "a/m", "b/m", strategy="market"), wish).policy

    assert policy.decides in ("failover", "cost", "latency", "throughput")
    assert Detail.PREFIX in policy.details


def test_group_is_arranged_once_for_equal_wishes() -> None:
    assert sorted_by(GROUP, Sort.PRICE) is arranged(GROUP, Preferences(sort=Sort.PRICE, zdr=True))
