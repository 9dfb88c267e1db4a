"""docs/simulator.md: columns, scenarios, policies and keys are those of the code, and its example works."""

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin

import pytest
from pydantic import BaseModel

from pointsman.config.schema import PriceEntry, Section
from pointsman.simulator import report, schema
from pointsman.simulator.names import known_policies
from pointsman.simulator.pool import DEFAULT_POOL
from pointsman.simulator.scenario import read, shipped
from tests.docs import pages

PAGE = "docs/simulator.md"
COLUMNS, SCENARIOS, POLICIES, KEYS, BEHAVIOUR = pages.tables(pages.text(PAGE))
TEXT = " ".join(pages.prose(pages.text(PAGE)).split())
# keys that have the keys of another table or page
ELSEWHERE = {schema.RoutingPolicySection, schema.AffinitySection, schema.CooldownSection, PriceEntry}
BEHAVES = set(schema.BehaviourSection.model_fields)


def keys(section: type[BaseModel], path: str = "") -> Iterator[str]:
    for name, field in section.model_fields.items():
        if path.startswith(("targets.", "timeline.")) and name in BEHAVES:
            continue
        is_map = get_origin(field.annotation) is dict
        place = f"{path}{name}.NAME" if is_map else f"{path}{name}"
        inner = _section(field.annotation)
        if inner is None or inner in ELSEWHERE:
            yield place
            continue
        if name in {"targets", "timeline"}:
            yield place
        yield from keys(inner, f"{place}.")


def _section(annotation: object) -> type[BaseModel] | None:
    if get_origin(annotation) in {list, dict, UnionType}:
        return next((found for part in get_args(annotation) if (found := _section(part)) is not None), None)
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None


def test_every_column_is_documented_and_no_other() -> None:
    shown = {column.title for column in (*report._USUAL, report._WORST, report._MEDIAN, *report._MEASURED)}

    assert {pages.code(row["column"]) for row in COLUMNS} == shown


def test_every_scenario_is_documented_with_its_own_words() -> None:
    assert {pages.code(row["scenario"]): row["what happens"] for row in SCENARIOS} == shipped()


def test_every_policy_is_documented_and_no_other() -> None:
    assert tuple(pages.code(row["policy"]) for row in POLICIES) == known_policies(())


def test_every_key_of_a_scenario_is_documented_and_no_other() -> None:
    documented = [pages.code(row["key"]) for row in KEYS]

    assert sorted(documented) == sorted(keys(schema.ScenarioFile))
    assert {pages.code(row["key"]) for row in BEHAVIOUR} == BEHAVES


def test_example_is_a_scenario() -> None:
    (example,) = [block for block in pages.blocks(pages.text(PAGE), "") if block.startswith("description:")]

    plan = read("mine", "mine.yaml", example, Path())

    assert list(plan.profiles) == ["cheap", "fast"]
    assert plan.victim == "cheap"
    assert plan.compare == ("market", "patient", "litellm-latency")


@pytest.mark.parametrize(
    "promise",
    [
        f"The exit code is {3}".lower(),
        f"to {['', 'one', 'two', 'three', 'four', 'five'][len(DEFAULT_POOL)]} targets that differ in price",
        "the first token within 3 seconds",
        f"default {schema.USUAL_RATE_PER_S}",
        "a 429 takes 80 ms",
    ],
)
def test_documented_number_is_that_of_the_code(promise: str) -> None:
    assert promise.lower() in TEXT.lower()
