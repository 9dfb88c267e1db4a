"""docs/decision-records.md: fields, rules, modes, reasons, classes and details."""

import ast
import inspect
import json
import re
from collections.abc import Iterator

import msgspec
import pytest

from pointsman.domain.conversation import Session
from pointsman.domain.decision import (
    AffinityOutcome,
    AttemptRecord,
    DecisionMode,
    Exclusion,
    FallbackReason,
    FinishReason,
    PinUse,
    ScoreNote,
    Scores,
)
from pointsman.domain.outcome import OutcomeClass, Usage
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import Member, Target
from pointsman.domain.view import Measured
from pointsman.http1.client import WireFault
from pointsman.http1.limits import Watchdog
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from pointsman.proxy.recorder import CALLER_GONE_STATUS
from pointsman.routing import eligibility
from pointsman.routing.outcomes import OUTCOME_BY_STATUS, verdict
from pointsman.routing.retry import GOES_ON
from pointsman.routing.router import standing
from pointsman.routing.scorers import SCORE
from pointsman.routing.strategies import PRESETS, STRATEGIES
from pointsman.testing import builders
from tests.docs import pages

PAGE = "docs/decision-records.md"
CLASSES = {pages.code(row["class"]): row for row in pages.table(PAGE, "Outcome classes")}


def first_codes(heading: str, column: str) -> list[str]:
    return [pages.code(row[column]) for row in pages.table(PAGE, heading)]


@pytest.mark.parametrize(
    ("heading", "struct"),
    [
        ("Fields", DecisionRecord),
        ("`facts`", RequestFacts),
        ("`session`", Session),
        ("`decisions`", DecisionNote),
        ("`pin`", PinUse),
        ("`attempts`", AttemptRecord),
        ("`usage`", Usage),
    ],
)
def test_every_field_is_documented_in_its_place(heading: str, struct: type[msgspec.Struct]) -> None:
    assert first_codes(heading, "field") == list(struct.__struct_fields__)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("field", list(Scores.__struct_fields__)),
        ("number", list(Measured.__struct_fields__)),
        ("note", list(ScoreNote.__struct_fields__)),
        ("fallback", list(FallbackReason)),
    ],
)
def test_everything_in_scores_is_documented(column: str, words: list[str]) -> None:
    (found,) = [table for table in pages.tables(pages.section(PAGE, "`scores`")) if column in table[0]]

    assert [pages.code(row[column]) for row in found] == words


def test_every_outcome_of_a_pin_is_documented() -> None:
    assert first_codes("Outcomes of a pin", "outcome") == list(AffinityOutcome)


@pytest.mark.parametrize("strategy", [name for name, found in PRESETS.items() if found.score and not found.opinion])
def test_terms_of_every_strategy_are_documented(strategy: str) -> None:
    (rows,) = [table for table in pages.tables(pages.section(PAGE, "`scores`")) if "strategy" in table[0]]
    group = builders.group("chat", "a/m", "b/m", strategy=strategy)
    view = builders.group_view(builders.view(), builders.view())

    engaged = standing(group, msgspec.structs.replace(view, served=50, measured=(builders.measured(samples=9),) * 2))
    fresh = standing(group, view)

    assert engaged is not None
    assert fresh is not None
    documented = {pages.code(row["strategy"]): row["terms"].partition("; in fallback ") for row in rows}[strategy]
    assert pages.codes(documented[0]) == list(engaged[1].terms)
    assert pages.codes(documented[2] or documented[0]) == list(fresh[1].terms)


@pytest.mark.parametrize("strategy", [name for name, found in STRATEGIES.items() if found.opinion])
def test_strategy_that_asks_somebody_has_one_term(strategy: str) -> None:
    (rows,) = [table for table in pages.tables(pages.section(PAGE, "`scores`")) if "strategy" in table[0]]

    assert {"strategy": f"`{strategy}`", "terms": f"`{SCORE}`"} in rows


def test_example_has_every_field_and_no_other() -> None:
    (example,) = pages.blocks(pages.text(PAGE), "json")

    record = msgspec.json.decode(example, type=DecisionRecord)

    assert json.loads(msgspec.json.encode(record)) == json.loads(example)


def test_example_uses_words_that_exist() -> None:
    (example,) = pages.blocks(pages.text(PAGE), "json")

    record = msgspec.json.decode(example, type=DecisionRecord)

    assert FinishReason(record.reason)
    assert all(OutcomeClass(attempt.outcome_class) for attempt in record.attempts)
    assert all(DecisionMode(decision.mode or "") for decision in record.decisions)
    assert all(Exclusion(rule) for decision in record.decisions for rule in decision.excluded.values())


def test_every_exclusion_rule_is_documented_in_the_order_of_application() -> None:
    assert first_codes("Exclusion rules", "rule") == list(Exclusion)


@pytest.mark.parametrize(("kept", "expected"), [(3, "weight_zero"), (2, "dialect_unsupported"), (1, "no_credential")])
def test_first_documented_rule_that_fits_is_recorded(kept: int, expected: str) -> None:
    """A target against which the last `kept` rules of eligibility speak."""
    usual = builders.target("a/m")
    target = Target(
        usual.id, usual.provider, usual.upstream_model, usual.state_key,
        frozenset() if kept > 1 else usual.dialects, has_credential=False,
    )  # fmt: skip
    group = builders.group("chat", "a/m")
    group = msgspec.structs.replace(group, members=(Member(target, 0.0 if kept > 2 else 1.0),))

    excluded = eligibility.split(builders.ask(), group).excluded

    assert [found.rule for found in excluded] == [expected]


def test_every_decision_mode_is_documented() -> None:
    assert first_codes("Modes", "mode") == list(DecisionMode)


def test_every_finish_reason_is_documented() -> None:
    assert first_codes("Finish reasons", "reason") == list(FinishReason)


def test_every_outcome_class_is_documented() -> None:
    assert sorted(CLASSES) == sorted(OutcomeClass)


@pytest.mark.parametrize("name", list(OutcomeClass))
def test_documented_failover_is_what_routing_does(name: OutcomeClass) -> None:
    assert (CLASSES[name]["failover"] != "no") is GOES_ON[name]


@pytest.mark.parametrize("name", list(OutcomeClass))
def test_documented_statuses_have_that_class(name: OutcomeClass) -> None:
    statuses = documented_statuses(CLASSES[name]["when"])

    assert {verdict(status, None).outcome_class for status in statuses} <= {name}


def test_every_status_with_a_class_of_its_own_is_documented() -> None:
    documented = {status for row in CLASSES.values() for status in documented_statuses(row["when"])}

    assert set(OUTCOME_BY_STATUS) - documented == set()


def test_every_detail_is_documented() -> None:
    documented = [name for row in pages.table(PAGE, "Details") for name in pages.codes(row["detail"])]

    assert sorted(documented) == sorted({*WireFault, *details_of_the_proxy(), "status_NNN"})


def test_documented_status_of_a_caller_who_left_is_the_one_recorded() -> None:
    (row,) = [row for row in pages.table(PAGE, "Fields") if row["field"] == "`status`"]

    assert str(CALLER_GONE_STATUS) in row["meaning"]


def test_documented_time_until_a_record_is_handed_on_is_the_watchdogs() -> None:
    tick_s = inspect.signature(Watchdog).parameters["tick_s"].default

    assert f"{tick_s * 1000:g} ms" in pages.text(PAGE)


def documented_statuses(when: str) -> Iterator[int]:
    """Single ones and ranges; `5xx` stands for those without a class of their own."""
    for first, last in re.findall(r"\b(\d{3})(?:-(\d{3}))?\b", when.replace("inside a 200", "")):
        yield from range(int(first), int(last or first) + 1)
    if "5xx" in when:
        yield from (status for status in range(500, 600) if status not in OUTCOME_BY_STATUS)


def details_of_the_proxy() -> set[str]:
    """Every literal detail that the source gives an attempt."""
    found: set[str] = set()
    for folder in ("proxy", "dialects"):
        for file in (pages.SOURCE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    found.update(_literals(node))
    return found


def _literals(call: ast.Call) -> Iterator[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    places: list[ast.expr] = [keyword.value for keyword in call.keywords if keyword.arg == "fault"]
    if name in {"Fault", "_told_fault"}:
        places += call.args[1:2]
    if name in {"abandoned", "gone"}:
        places += [*call.args]
    for place in places:
        branches = [place.body, place.orelse] if isinstance(place, ast.IfExp) else [place]
        yield from (node.value for node in branches if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_readme_shortens_the_documented_example_and_changes_nothing() -> None:
    (full,) = pages.blocks(pages.text(PAGE), "json")
    (short,) = pages.blocks(pages.text("README.md"), "json")

    assert is_part_of(json.loads(short), json.loads(full))


def is_part_of(part: object, whole: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and is_part_of(value, whole[name]) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(is_part_of, part, whole))
    return part == whole
