"""References to variables and files: resolved once, everywhere the same, never shown."""

import os
from pathlib import Path

import pytest

from pointsman.config import references
from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.scalars import VariableText
from pointsman.config.yaml_tree import parse

_SECRET = ("providers", "p", "api_key")
_HEADER = ("providers", "p", "headers", "X-Key")
_PLAIN = ("providers", "p", "base_url")


def _document(text: str, path: KeyPath = _PLAIN) -> Document:
    document = Document.of("file", parse("providers: {p: {headers: {}}}"))
    document.put(path, text)
    return document


def _resolved(text: str, environ: dict[str, str], path: KeyPath = _PLAIN) -> object:
    document = _document(text, path)
    references.resolve(document, environ)
    assert not document.problems
    return document.value(path)


def _refusal(text: str, environ: dict[str, str], path: KeyPath) -> str:
    document = _document(text, path)
    references.resolve(document, environ)
    assert document.is_closed(path)
    assert document.value(path) is None
    return str(document.problems[0])


@pytest.mark.bug("J-01")
@pytest.mark.parametrize("path", [_PLAIN, _SECRET, _HEADER])
@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("plain", "plain"),
        ("${SET}", "value"),
        ("${_1}", "underscore"),
        ("${SET:-default}", "value"),
        ("${UNSET:-default}", "default"),
        ("${EMPTY:-default}", "default"),
        ("${UNSET:-a:-b}", "a:-b"),
        ("a ${SET} b ${SET}", "a value b value"),
        ("${SET}${_1}", "valueunderscore"),
        ("a${UNSET:-}b", "ab"),
        ("$${SET}", "${SET}"),
        ("$${SET} ${SET}", "${SET} value"),
        ("$SET $$ $", "$SET $$ $"),
        ("a$${", "a${"),
        ("${LINE_END}", "value"),
        ("${LINE_END}/v1", "value/v1"),
        ("${NESTED}", "${SET}"),
        ("${ESCAPED}", "$${SET}"),
    ],
)
def test_references_are_replaced_by_their_values(path: KeyPath, text: str, resolved: str) -> None:
    environ = {
        "SET": "value",
        "_1": "underscore",
        "EMPTY": "",
        "LINE_END": "value\r\n",
        "NESTED": "${SET}",
        "ESCAPED": "$${SET}",
    }

    assert _resolved(text, environ, path) == resolved


@pytest.mark.bug("J-01")
def test_references_in_lists_are_replaced() -> None:
    document = Document.of("file", parse("models: {a: {aliases: ['${A}', 'x-${B}', 5]}}"))

    references.resolve(document, {"A": "one", "B": "two"})

    assert document.value(("models", "a", "aliases")) == ["one", "x-two", 5]


def test_keys_are_never_replaced() -> None:
    document = Document.of("file", parse("models: {'${A}': {}}"))

    references.resolve(document, {"A": "one"})

    assert document.value(("models",)) == {"${A}": {}}


@pytest.mark.bug("J-01")
@pytest.mark.parametrize(
    ("text", "kind"), [("${A}", VariableText), ("x${A}", VariableText), ("plain", str), ("$${A}", str)]
)
def test_only_text_of_a_variable_is_marked_to_be_read_again(text: str, kind: type) -> None:
    assert type(_resolved(text, {"A": "5"})) is kind


@pytest.mark.bug("J-01")
def test_an_empty_variable_gives_empty_text_where_that_is_no_secret() -> None:
    assert _resolved("${EMPTY}", {"EMPTY": ""}) == ""


@pytest.mark.bug("J-01")
@pytest.mark.bug("J-02")
@pytest.mark.parametrize("path", [_PLAIN, _SECRET, _HEADER])
def test_an_unset_variable_without_default_is_refused_by_its_name(path: KeyPath) -> None:
    message = _refusal("a ${SET} ${FIRST} ${SECOND}", {"SET": "x"}, path)

    assert "the environment variable FIRST is not set. Set FIRST, or write ${FIRST:-default}." in message


@pytest.mark.parametrize(
    "text", ["${", "${}", "${A", "${A-b}", "${1A}", "${A B}", "${A:-${B}}", "${A:-{}}", "x ${\u00e4}"]
)
def test_what_only_looks_like_a_reference_is_refused(text: str) -> None:
    message = _refusal(text, {"A": "value"}, _PLAIN)

    assert "this is not a valid reference. Write ${NAME} or ${NAME:-default}; for a literal ${ write $${." in message


@pytest.mark.bug("J-02")
@pytest.mark.parametrize("path", [_SECRET, _HEADER])
@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "this secret is empty. Give it a value, or remove the key."),
        ("${A}", "this secret is empty, because A is empty. Give A a value, or remove the key."),
        ("${A:-}", "this secret is empty, because A is empty. Give A a value"),
        ("${UNSET:-}", "this secret is empty, because UNSET is empty."),
        ("${A}${B}${A}", "this secret is empty, because A and B is empty. Give A and B a value"),
    ],
)
def test_an_empty_secret_is_refused(path: KeyPath, text: str, fix: str) -> None:
    assert fix in _refusal(text, {"A": "", "B": "\n"}, path)


def test_only_keys_and_headers_of_providers_are_secrets() -> None:
    assert references.is_secret(_SECRET)
    assert references.is_secret(_HEADER)
    assert not references.is_secret(_PLAIN)
    assert not references.is_secret(("providers", "p", "headers"))
    assert not references.is_secret(("models", "p", "api_key"))


@pytest.mark.parametrize("path", [_SECRET, _HEADER])
@pytest.mark.parametrize("content", ["secret", "secret\n", "secret\r\n", "secret\n\n"])
def test_a_secret_can_come_from_a_file(tmp_path: Path, path: KeyPath, content: str) -> None:
    (tmp_path / "key").write_text(content)

    assert _resolved(f"file:{tmp_path}/key", {}, path) == "secret"


def test_the_name_of_the_file_may_contain_references(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")

    assert _resolved("file:${FOLDER}/key", {"FOLDER": str(tmp_path)}, _SECRET) == "secret"


def test_the_content_of_a_file_is_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("${A}")

    assert _resolved(f"file:{tmp_path}/key", {"A": "x"}, _SECRET) == "${A}"


def test_other_values_never_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")

    assert _resolved(f"file:{tmp_path}/key", {}) == f"file:{tmp_path}/key"


def test_a_variable_cannot_refer_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")

    message = _refusal("${A}", {"A": f"file:{tmp_path}/key"}, _SECRET)

    assert (
        "a variable cannot refer to a file. Write the `file:` reference into the configuration file itself." in message
    )


@pytest.mark.bug("J-02")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"x" * (64 * 1024 + 1), "is too large"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_a_file_without_a_secret_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    refusal = _refusal(f"file:{tmp_path}/key", {}, _SECRET)

    assert message in refusal
    assert f"'{tmp_path}/key'" in refusal
    assert "readable for this process, with the secret as its only content." in refusal


@pytest.mark.parametrize("name", ["key", "", "~/key", "../key"])
def test_a_file_needs_an_absolute_path(name: str) -> None:
    assert "a file reference needs an absolute path" in _refusal(f"file:{name}", {}, _SECRET)


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    assert os.strerror(21) in _refusal(f"file:{tmp_path}", {}, _SECRET)


def test_a_path_with_nul_is_refused() -> None:
    assert "cannot read '/a\\x00b'" in _refusal("file:/a\0b", {}, _SECRET)


@pytest.mark.bug("J-01")
def test_an_overridden_value_is_not_expanded() -> None:
    document = _document("${A}")
    document.origins[_PLAIN] = "POINTSMAN__PROVIDERS__P__BASE_URL"

    references.resolve(document, {})

    assert document.value(_PLAIN) == "${A}"
    assert not document.problems


@pytest.mark.bug("J-02")
@pytest.mark.parametrize(("text", "message"), [("", "this secret is empty"), ("file:/key", "cannot refer to a file")])
def test_an_overridden_secret_is_neither_empty_nor_a_file(text: str, message: str) -> None:
    document = _document(text, _SECRET)
    document.origins[_SECRET] = "VARIABLE"

    references.resolve(document, {})

    assert str(document.problems[0]).startswith(
        f"VARIABLE: providers.p.api_key: {'this' if not text else 'a variable'}"
    )
    assert message in document.problems[0].message


def test_messages_show_what_the_file_has_instead_of_the_value() -> None:
    document = _document("http://${A}")

    references.resolve(document, {"A": "hidden"})

    assert document.shown(_PLAIN, "http://hidden") == "'http://${A}'"


def test_messages_show_no_path_of_a_secret_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hidden")
    document = _document(f"file:{tmp_path}/key", _SECRET)

    references.resolve(document, {})

    assert document.shown(_SECRET, "hidden") == "'file:'"
