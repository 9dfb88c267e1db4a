"""docs/plugins.md: its plugin works as it says, and the contract is that of the code."""

import sys
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from pointsman.config import plugins
from pointsman.config.load import load
from pointsman.domain.decision import Decision
from pointsman.domain.opinion import API_VERSION, Candidate, FallbackReason, Question
from pointsman.domain.target import ModelGroup
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests import packages
from tests.docs import pages, plugin


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelGroup:
    """The group of the example, as it is configured there."""
    monkeypatch.syspath_prepend(plugin.installed(tmp_path))
    (block,) = pages.blocks(pages.text(plugin.PAGE), "yaml")
    file = tmp_path / "pointsman.yaml"
    file.write_text(block, encoding="utf-8")
    return load(file, environ={}).snapshot.groups["chat"]


def decided(group: ModelGroup, in_flight: int) -> Decision:
    measured = builders.measured(in_flight), builders.measured()
    view = builders.group_view(builders.view(), builders.view(), measured=measured)
    return decide(builders.ask(), group, view, rng=Random(1), lengths=builders.lengths(group))


@pytest.mark.parametrize(("in_flight", "expected"), [(0, "own/llama"), (3, "own/llama"), (4, "rented/llama")])
def test_example_does_what_the_page_says(group: ModelGroup, in_flight: int, expected: str) -> None:
    decision = decided(group, in_flight)

    assert decision.pick is not None
    assert (decision.pick.target.id, decision.pick.mode) == (expected, "plugin")


def test_example_imports_nothing_but_the_documented_contract(group: ModelGroup) -> None:
    module = sys.modules["our_rules"]

    assert {name for name in vars(module) if name in {"Candidate", "Question", "Rng"}} == {
        "Candidate",
        "Question",
        "Rng",
    }


@pytest.mark.parametrize(
    ("heading", "struct"), [("Fields of a question", Question), ("Fields of a candidate", Candidate)]
)
def test_every_field_of_the_contract_is_documented(heading: str, struct: type) -> None:
    documented = [pages.code(row["field"]) for row in pages.table(plugin.PAGE, heading)]

    assert sorted(documented) == sorted(field.name for field in structs.fields(struct))


def test_documented_version_and_group_of_entry_points_are_those_of_the_code() -> None:
    assert f"`api_version = {API_VERSION}`" in pages.text(plugin.PAGE)
    assert packages.GROUP == plugins.ENTRY_POINTS


def test_reasons_of_failures_are_those_of_the_code() -> None:
    section = pages.section(plugin.PAGE, "When it fails")

    for reason in (FallbackReason.RAISED, FallbackReason.BAD_ANSWER, FallbackReason.NO_OPINION):
        assert f"`{reason}`" in section
    assert "once a minute" in section
    assert plugins.COMPLAINT_INTERVAL_S == 60
