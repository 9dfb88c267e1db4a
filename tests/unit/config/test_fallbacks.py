"""Fallbacks between groups, as the file says them and as requests see them."""

from pathlib import Path

import pytest

from pointsman.domain.policy import Fallbacks, RoutingPolicy
from tests.unit.config.samples import HEAD, LOCAL, load_text, problem, refused

PRICED = "providers: {local: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1', models: {small: {context: 100}}}}\n"


def groups(*lines: str, providers: str = LOCAL) -> str:
    """One group per line: its name and what it has besides a target."""
    entries = [line.partition(":") for line in lines]
    return f"{HEAD}{providers}models:\n" + "".join(
        f"  {name}: {{targets: [{{model: local/{name}}}]{more and ', ' + more.strip()}}}\n" for name, _, more in entries
    )


def policy(folder: Path, text: str, name: str = "a") -> RoutingPolicy:
    return load_text(folder, text).snapshot.groups[name].policy


def test_each_list_is_for_its_own_cause(tmp_path: Path) -> None:
    text = groups("a: fallbacks: [b], context_fallbacks: [c], policy_fallbacks: [b, c]", "b", "c")

    assert policy(tmp_path, text).fallbacks == Fallbacks(("b",), ("c",), ("b", "c"))


def test_groups_behind_a_group_follow_it_and_none_comes_twice(tmp_path: Path) -> None:
    text = groups("a: fallbacks: [b, c]", "b: fallbacks: [d]", "c: fallbacks: [d, e]", "d", "e: context_fallbacks: [a]")

    assert policy(tmp_path, text).fallbacks == Fallbacks(("b", "d", "c", "e"))


def test_alias_means_its_group(tmp_path: Path) -> None:
    assert policy(tmp_path, groups("a: fallbacks: [bee]", "b: aliases: [bee]")).fallbacks == Fallbacks(("b",))


def test_group_that_is_switched_off_is_passed_over(tmp_path: Path) -> None:
    text = groups("a: fallbacks: [b]", "b: 'enabled: false, fallbacks: [c]'".replace("'", ""), "c")

    assert policy(tmp_path, text).fallbacks == Fallbacks(("c",))


def test_request_is_looked_at_for_the_groups_behind_too(tmp_path: Path) -> None:
    text = groups("a: fallbacks: [small]", "small", providers=PRICED)

    assert policy(tmp_path, text).scan.plain_up_to_tokens == 100


@pytest.mark.case("T93")
@pytest.mark.parametrize("key", ["fallbacks", "context_fallbacks", "policy_fallbacks"])
def test_unknown_group_is_refused_with_the_nearest_name(tmp_path: Path, key: str) -> None:
    found = problem(tmp_path, groups(f"a: {key}: [longg]", "long"))

    assert (found.path, found.message) == (f"models.a.{key}[0]", "unknown model group 'longg'")
    assert found.fix == "Did you mean 'long'?"


@pytest.mark.case("T93")
@pytest.mark.parametrize(
    "lines", [["a: fallbacks: [a]"], ["a: fallbacks: [b]", "b: fallbacks: [c]", "c: fallbacks: [a]"]]
)
def test_circle_is_refused_at_every_group_of_it(tmp_path: Path, lines: list[str]) -> None:
    found = refused(tmp_path, groups(*lines)).problems

    assert [each.path for each in found] == [f"models.{line[0]}.fallbacks[0]" for line in lines]
    assert {each.message for each in found} == {"leads back to this group"}


def test_groups_may_be_behind_each_other_for_different_causes(tmp_path: Path) -> None:
    text = groups("a: context_fallbacks: [b]", "b: policy_fallbacks: [a]")

    assert policy(tmp_path, text).fallbacks == Fallbacks(context=("b",))
