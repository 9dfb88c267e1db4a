"""Misfits in plain words; everything else goes on being checked."""

import re
from typing import get_args, get_origin

import pytest
from pydantic import BaseModel

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.scalars import VariableText
from pointsman.config.schema import ConfigFile
from pointsman.config.schema_errors import validate
from pointsman.config.yaml_tree import parse
from tests.unit.config.samples import HEAD, VALID


def _document(text: str) -> Document:
    return Document.of("file", parse(text))


def _sections(model: type[BaseModel], path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    """Every section of the schema, with one of its keys."""
    found = [(path, next(iter(model.model_fields)))]
    for name, field in model.model_fields.items():
        inner = field.annotation
        below: tuple[str | int, ...] = (*path, name)
        if get_origin(inner) in (dict, list):
            below = (*below, "any" if get_origin(inner) is dict else 0)
            inner = get_args(inner)[-1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += _sections(inner, below)
    return found


def _nested(path: tuple[str | int, ...], leaf: object) -> object:
    for key in reversed(path):
        leaf = [leaf] if isinstance(key, int) else {key: leaf}
    return leaf


def test_a_valid_document_keeps_its_values() -> None:
    document = _document(VALID)

    config = validate(document)

    assert not document.problems
    assert list(config.models) == ["chat"]


@pytest.mark.bug("J-03")
@pytest.mark.parametrize(("path", "key"), _sections(ConfigFile), ids=str)
def test_every_section_refuses_an_unknown_key_and_proposes_the_nearest(path: tuple[str | int, ...], key: str) -> None:
    document = _document("")
    document.data = dict(_nested((*path, f"{key}x"), 1).items())  # type: ignore[attr-defined]

    validate(document)

    fixes = [problem.fix for problem in document.problems if problem.message == f"unknown key '{key}x'"]
    assert fixes == [f"Did you mean '{key}'?"]


def test_an_empty_document_lacks_version_and_auth_and_nothing_else() -> None:
    document = _document("")

    config = validate(document)

    assert [(problem.path, problem.message) for problem in document.problems] == [
        ("version", "is missing"),
        ("auth", "is missing"),
    ]
    assert config.auth.mode == "none"


def test_the_fix_of_a_missing_auth_says_what_it_means() -> None:
    document = _document("version: 1")

    validate(document)

    assert document.problems[0].fix == (
        "Write `auth: {mode: keys}` and make a key with `pointsman keys create`; or write `auth: {mode: none}`, which "
        "serves everyone who can reach the port, and so is accepted on loopback addresses only."
    )


def test_faulty_values_take_their_defaults_for_the_further_checks() -> None:
    document = _document(f"{HEAD}server: {{drain: never, listen: 127.0.0.1:1}}\n")

    config = validate(document)

    assert (config.server.drain, config.server.listen.port) == (30, 1)


def test_what_follows_from_a_dropped_value_is_not_told() -> None:
    document = _document(f"{HEAD}models: {{a: {{targets: 5}}, b: {{targets: [{{model: x, weight: y}}]}}}}\n")

    config = validate(document)

    assert [problem.path for problem in document.problems] == ["models.a.targets", "models.b.targets[0].weight"]
    assert list(config.models) == ["b"]


@pytest.mark.parametrize("text", ["- a", "a: [", "5"])
def test_nothing_is_said_about_unreadable_text(text: str) -> None:
    document = _document(text)
    before = len(document.problems)

    validate(document)

    assert len(document.problems) == before


@pytest.mark.parametrize("value", ["[]", "5", "text", "null", "true", "1.5", "{zz: 1}", "[[1]]", ".nan"])
@pytest.mark.parametrize(("path", "key"), _sections(ConfigFile), ids=str)
def test_every_misfit_of_any_type_has_a_message_and_a_fix(path: tuple[str | int, ...], key: str, value: str) -> None:
    document = _document("")
    document.data = dict(_nested((*path, key), parse(value).data).items())  # type: ignore[attr-defined]

    validate(document)

    assert document.problems
    assert all(re.search(r"\w", problem.message) and re.search(r"\w", problem.fix) for problem in document.problems)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("records", "decisions", "path"), "\udcff"),
        (("providers", "local", "api_key"), "\udcff"),
        (("models", "chat", "strategy"), "\udcff"),
    ],
)
def test_text_of_a_variable_that_is_no_unicode_is_refused(path: KeyPath, value: str) -> None:
    document = _document(VALID)
    document.data.setdefault("records", {"decisions": {}})
    document.put(path, VariableText(value))

    validate(document)

    assert [problem.path for problem in document.problems] == [".".join(map(str, path))]


def test_no_message_has_the_words_of_the_validation_library() -> None:
    document = _document(
        f"{HEAD}server: 5\nmodels: {{a: {{targets: [5], enabled: 1, strategy: 7}}}}\nretry: {{max_attempts: x}}\n"
    )

    validate(document)

    text = "\n".join(map(str, document.problems))
    assert len(document.problems) == 5
    assert not re.search(r"pydantic|input|Extra|valid dictionary|Error", text)


@pytest.mark.parametrize(
    ("line", "path", "message", "fix"),
    [
        ("retry: {max_attempts: 0}", "retry.max_attempts", "must be at least 1", "Write a larger number."),
        (
            "server: {limits: {connections: 1000001}}",
            "server.limits.connections",
            "must be at most 1,000,000",
            "Write a smaller number.",
        ),
        ("auth: {mode: key}", "auth.mode", "must be one of: keys, none", "Write `auth: {mode: keys}`"),
        ("models: {a: {}}", "models.a.targets", "is missing", "Add `targets: ...`, see the documented example."),
        (
            "providers: {a: {kind: openai, timeouts: {total: 1s}}}",
            "providers.a.timeouts.total",
            "'total' limits the whole request, not one attempt",
            "Move it to the top-level `timeouts`.",
        ),
    ],
)
def test_a_misfit_says_what_must_be_there_and_what_to_write(line: str, path: str, message: str, fix: str) -> None:
    head = HEAD if not line.startswith("auth") else "version: 1\n"
    document = _document(f"{head}{line}\n")

    validate(document)

    assert [(problem.path, problem.message) for problem in document.problems] == [(path, message)]
    assert document.problems[0].fix.startswith(fix)


def test_the_usual_short_spelling_of_auth_is_answered_with_the_right_one() -> None:
    document = _document("version: 1\nauth: none\n")

    validate(document)

    assert [problem.path for problem in document.problems] == ["auth"]
    assert document.problems[0].fix.startswith("Write `auth: {mode: keys}`")
