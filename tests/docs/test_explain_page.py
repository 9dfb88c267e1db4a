"""docs/explain.md: pages, parameters, fields and bounds of the admin API."""

import json

import pytest
from msgspec import Struct

from pointsman.control.access import Access
from pointsman.control.api import PAGES
from pointsman.control.decisions import DEFAULT_LIMIT, MAX_LIMIT, PARAMETERS
from pointsman.control.explain import DEFAULT_DIALECT, MAX_SEED, Explanation, Question, State, answer
from pointsman.control.explain_text import RESTS_ON
from pointsman.control.targets import TargetStatus
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect
from pointsman.domain.view import Breaker, Limit, PauseCause
from pointsman.observability.recent import MAX_BYTES, MAX_LOOKED_AT
from pointsman.routing.explain import Explained
from pointsman.routing.explanation import MAX_LINE_CHARS, TargetRow, state_of
from pointsman.testing import builders
from tests.docs import gateway, pages

PAGE = "docs/explain.md"
TEXT = " ".join(pages.prose(pages.text(PAGE)).split())
FOR = {Access.PUBLIC: "everybody", Access.METRICS: "this machine, or the token", Access.API: "the API"}


def first_codes(heading: str, column: str, number: int = 0) -> list[str]:
    """The first column of a table below a heading; of several tables the one of that number."""
    table = list(pages.tables(pages.section(PAGE, heading)))[number]
    return [pages.code(row[column]) for row in table]


def test_every_page_is_documented_with_who_may_use_it() -> None:
    documented = [(pages.code(row["request"]), row["for"]) for row in pages.table(PAGE, "The admin API")]

    assert documented == [(f"{page.method} {page.path}", FOR[page.access]) for page in PAGES]


@pytest.mark.parametrize(
    ("heading", "number", "struct"),
    [("Targets", 0, TargetStatus), ("Explain", 1, Explained), ("Explain", 2, TargetRow)],
)
def test_every_field_is_documented(heading: str, number: int, struct: type[Struct]) -> None:
    assert sorted(first_codes(heading, "field", number)) == sorted(struct.__struct_fields__)


def test_every_field_of_a_state_is_documented() -> None:
    assert first_codes("State", "field") == list(state_of(builders.view(), 0, 0.0))


def test_documented_states_and_causes_are_those_of_the_code() -> None:
    rows = {pages.code(row["field"]): row["meaning"] for row in pages.table(PAGE, "State")}

    assert pages.codes(rows["breaker"]) == [Breaker.CLOSED, Breaker.OPEN, Breaker.HALF_OPEN]
    assert pages.codes(rows["pause_cause"]) == list(PauseCause)
    assert pages.codes(rows["limit"]) == list(Limit)


def test_every_parameter_of_the_list_is_documented() -> None:
    assert first_codes("Decisions", "parameter") == list(PARAMETERS)


@pytest.mark.parametrize(
    "promise",
    [
        f"1 to {MAX_LIMIT}; default {DEFAULT_LIMIT}",
        f"One page looks at {MAX_LOOKED_AT:,} records at most",
        f"as far as they fit into {MAX_BYTES >> 20} MiB",
        f"at most {MAX_LINE_CHARS:,} characters",
        f"Of the draw, 0 to {MAX_SEED};",
        f"`{DEFAULT_DIALECT}`, the default, ",
        "`state` | `live`, the default",
    ],
)
def test_documented_bound_or_default_is_that_of_the_code(promise: str) -> None:
    assert promise in TEXT


def test_every_dialect_is_documented() -> None:
    (row,) = [row for row in next(pages.tables(pages.section(PAGE, "Explain"))) if row["parameter"] == "`dialect`"]

    assert pages.codes(row["meaning"]) == list(DIALECTS)


def test_documented_parts_of_an_answer_are_those_of_the_code() -> None:
    (sentence,) = [part for part in TEXT.split("The answer has ")[1:] if "`explained`" in part]
    names = pages.codes(sentence.partition(":")[0])

    assert names == list(Explanation.__struct_fields__)
    assert set(State) == {State.LIVE, State.FRESH}


def test_documented_request_is_one() -> None:
    (body,) = [code for code in pages.codes(TEXT) if code.startswith('{"model"')]
    group = builders.group("chat", ("local/a", 70), ("local/b", 30))

    found = answer(Question(body.encode(), Dialect.OPENAI_CHAT, 1), builders.snapshot([group]), None, 0.0)

    assert json.loads(body)["model"] == "chat"
    assert found.explained.action == "send"


def test_documented_output_ends_as_the_command_ends() -> None:
    (output,) = [block for block in pages.blocks(pages.text(PAGE), "") if block.startswith("$ pointsman explain")]

    assert output.splitlines()[-1].startswith(f"decided on {RESTS_ON[State.LIVE]}; configuration version ")


def test_documented_header_is_the_one_sent() -> None:
    reply = gateway.run().replies["explained"]

    assert reply.header("x-pointsman-explain") == b"good/m chosen by single: share 100%"
