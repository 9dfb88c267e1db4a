"""docs/dialects.md: what is carried into what, and what came of trying it."""

from pointsman.dialects.bridges import (
    chat_answer,
    chat_request,
    messages_answer,
    messages_request,
    responses_answer,
    responses_request,
)
from pointsman.dialects.bridges.bridge import PASSED_ON
from pointsman.domain.carried import CARRIED_AS
from pointsman.domain.request import Dialect
from tests import dialects
from tests.docs import pages

PAGE = "docs/dialects.md"


def test_every_dialect_is_carried_into_what_the_page_says() -> None:
    rows = pages.table(PAGE, "Dialects")

    documented = {pages.code(row["caller speaks"]): pages.codes(row["target is asked in"]) for row in rows}

    assert documented == {dialect: [dialect, *CARRIED_AS.get(dialect, ())] for dialect in Dialect}


def test_reasons_of_the_end_are_those_of_the_code() -> None:
    _, reasons = pages.tables(pages.section(PAGE, "What is carried"))

    documented = [[pages.code(row[name]) for name in ("Chat", "Messages", "Responses")] for row in reasons]

    sides = (chat_answer, messages_answer, responses_answer)
    assert documented == [[side.word_of(finish) for side in sides] for finish in dialects.Finish]


def test_hints_that_are_left_out_are_named() -> None:
    text = pages.section(PAGE, "What is carried")

    named = set(pages.codes(text))

    assert chat_request.KNOWN.hints | messages_request.KNOWN.hints | responses_request.KNOWN.hints <= named
    assert {header.decode() for header in PASSED_ON} <= named


def test_numbers_are_those_of_the_code() -> None:
    text = pages.section(PAGE, "What is carried")

    assert f"or {messages_request.DEFAULT_MAX_TOKENS:,}" in text
    assert all(f"up to {most:,} `{effort}`" in text for most, effort in messages_request.EFFORTS)


def test_every_case_of_every_pair_is_green_and_on_the_page() -> None:
    rows = dialects.found()

    assert {cell for cells in rows.values() for cell in cells.values()} == {dialects.GREEN}
    assert "\n".join(dialects.table(rows)) in pages.text(PAGE)
