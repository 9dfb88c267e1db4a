"""docs/errors.md: every error with its status, type, code and retry advice."""

import json
import re

import pytest

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import MAX_RETRY_AFTER_S, ErrorKind, ErrorRule, GatewayError
from pointsman.domain.request import Dialect
from tests.docs import pages

PAGE = "docs/errors.md"
ROWS = pages.table(PAGE, "Errors")
USED = {
    name
    for file in pages.SOURCE.rglob("*.py")
    for name in re.findall(r"ErrorKind\.([A-Z_]+)", file.read_text(encoding="utf-8"))
}


def rule_of(row: pages.Row) -> ErrorRule:
    return ErrorRule(
        int(row["status"]), pages.code(row["type"]), pages.code(row["code"]), should_retry=row["retry"] == "yes"
    )


def test_every_error_is_documented_and_no_other() -> None:
    documented = [rule_of(row) for row in ROWS]

    assert sorted(documented, key=repr) == sorted((kind.value for kind in ErrorKind), key=repr)


def test_errors_are_listed_by_their_status() -> None:
    statuses = [int(row["status"]) for row in ROWS]

    assert statuses == sorted(statuses)


@pytest.mark.parametrize("row", [pytest.param(row, id=pages.code(row["code"])) for row in ROWS])
def test_advice_on_retrying_is_yes_or_no(row: pages.Row) -> None:
    assert row["retry"] in {"yes", "no"}


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_error_that_nothing_raises_is_documented_as_reserved(kind: ErrorKind) -> None:
    (row,) = [row for row in ROWS if pages.code(row["code"]) == kind.value.code]

    assert row["meaning"].startswith("Reserved") is (kind.name not in USED)


def test_documented_longest_wait_is_the_one_sent() -> None:
    assert f"{MAX_RETRY_AFTER_S} s at most" in " ".join(pages.section(PAGE, "Errors").split())


@pytest.mark.parametrize("row", [pytest.param(row, id=pages.code(row["code"])) for row in ROWS])
def test_error_on_messages_is_documented(row: pages.Row) -> None:
    codec = DIALECTS[Dialect.ANTHROPIC_MESSAGES]
    error = GatewayError(next(kind for kind in ErrorKind if kind.value.code == pages.code(row["code"])), "x")

    status, type_ = codec.status_of(error), json.loads(codec.write_error(error, "req_1"))["error"]["type"]

    assert row["on Messages"] == (f"`{type_}`" if status == error.status else f"{status} `{type_}`")


@pytest.mark.parametrize(("dialect", "place"), [(Dialect.OPENAI_CHAT, 0), (Dialect.ANTHROPIC_MESSAGES, 1)])
def test_example_has_the_fields_of_every_error(dialect: Dialect, place: int) -> None:
    example = json.loads(pages.blocks(pages.text(PAGE), "json")[place])
    error = GatewayError(ErrorKind.MODEL_NOT_FOUND, "There is no model 'dmo'. Did you mean 'demo'?", param="model")

    written = DIALECTS[dialect].write_error(error, example.get("request_id", ""))

    assert json.loads(written) == example


@pytest.mark.parametrize(
    ("dialect", "place"), [(Dialect.OPENAI_CHAT, 0), (Dialect.OPENAI_RESPONSES, 1), (Dialect.ANTHROPIC_MESSAGES, 2)]
)
def test_example_of_a_broken_stream_is_what_ends_one(dialect: Dialect, place: int) -> None:
    example = pages.blocks(pages.text(PAGE), "")[place]
    (first,) = [json.loads(line) for line in events(example) if line.startswith("{")]
    response = first.get("response", {})
    message = first.get("error", response.get("error", {}))["message"]
    begun = DIALECTS[dialect].decoder()
    began = {"type": "response.created", "response": {**response, "status": "in_progress", "error": None}}
    begun.feed(b"data: %b\n\n" % json.dumps(began).encode() + b"data: {}\n\n" * 8)

    written = DIALECTS[dialect].write_stream_error(GatewayError(ErrorKind.UPSTREAM_ERROR, message), begun)

    assert read(written.decode()) == read(example)


def read(text: str) -> list[object]:
    return [json.loads(line) if line.startswith("{") else line for line in events(text)]


def events(text: str) -> list[str]:
    return [line.removeprefix("data: ") for line in text.splitlines() if line]
