"""Which strategy a group gets when its file names none."""

import pytest

from pointsman.config.schema import GroupEntry, TargetEntry
from pointsman.config.strategy import choose


def _group(weights: list[float | None], *, strategy: str | None = None, same_model: bool | None = None) -> GroupEntry:
    targets = [TargetEntry(model=f"local/{index}", weight=weight) for index, weight in enumerate(weights)]
    return GroupEntry.model_validate({"targets": targets, "strategy": strategy, "same_model": same_model})


@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover"])
def test_a_named_strategy_is_taken(strategy: str) -> None:
    choice = choose(_group([1, None], strategy=strategy, same_model=True), ["a", "a"])

    assert (choice.strategy, choice.reason) == (strategy, "the configuration names it")


def test_one_weight_makes_a_group_weighted() -> None:
    choice = choose(_group([None, 1], same_model=False), ["a", "b"])

    assert (choice.strategy, choice.reason) == ("weighted", "no strategy named, and a target has a weight")


def test_a_weight_of_0_is_a_weight() -> None:
    assert choose(_group([0, None]), ["a", "b"]).strategy == "weighted"


def test_a_single_target_leaves_nothing_to_choose() -> None:
    choice = choose(_group([None], same_model=True), ["a"])

    assert (choice.strategy, choice.reason) == ("failover", "no strategy named, and there is only one target")


def test_a_group_that_says_so_is_one_model() -> None:
    choice = choose(_group([None, None], same_model=True), ["a", "b"])

    assert choice.strategy == "market"
    assert choice.reason == "no strategy named, and the group says that its targets are one model"


def test_price_decides_between_targets_with_equal_identity() -> None:
    choice = choose(_group([None, None]), ["gpt-5.4-nano", "gpt-5.4-nano"])

    assert choice.strategy == "market"
    assert choice.reason == "no strategy named, and all targets are the model gpt-5.4-nano"


def test_unlike_models_are_asked_in_listed_order() -> None:
    choice = choose(_group([None, None]), ["a", "b"])

    assert choice.strategy == "failover"
    assert choice.reason == (
        "no strategy named, and the targets are unlike models: listed order, "
        "so that price never chooses between quality levels by accident"
    )


def test_equal_names_are_unlike_models_when_the_group_says_so() -> None:
    assert choose(_group([None, None], same_model=False), ["a", "a"]).strategy == "failover"
