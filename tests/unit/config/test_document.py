"""A configuration while it is being checked."""

import pytest

from pointsman.config.document import Document
from pointsman.config.problems import ConfigError, KeyPath
from pointsman.config.yaml_tree import parse

_TEXT = """\
server: {listen: a}
models:
  chat:
    targets:
      - {model: x}
      - {model: y}
"""


def _document(text: str = _TEXT) -> Document:
    return Document.of("file", parse(text))


def test_faults_of_the_text_are_the_first_problems() -> None:
    document = _document("a: 1\na: 2\n")

    assert [str(problem).partition(". ")[0] for problem in document.problems] == [
        "file:2:1: a: the key 'a' is there twice"
    ]
    assert not document.is_closed(())


def test_unreadable_text_closes_the_whole_document() -> None:
    document = _document("a: [")
    document.add(("version",), "is missing", "")

    assert len(document.problems) == 1
    assert document.is_closed(("version",))


def test_something_else_than_keys_closes_the_whole_document() -> None:
    document = _document("- a")
    document.add(("version",), "is missing", "")

    assert [problem.message for problem in document.problems] == ["the file must consist of `key: value` pairs"]
    assert document.data == {}


def test_a_document_without_problems_passes() -> None:
    _document().raise_problems()


def test_a_document_with_a_problem_ends_with_all_of_them() -> None:
    document = _document()
    document.add(("server",), "one", "")
    document.add(("models",), "two", "")

    with pytest.raises(ConfigError) as raised:
        document.raise_problems()

    assert [problem.message for problem in raised.value.problems] == ["one", "two"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("server", "listen"), (1, 10)),
        (("models", "chat", "targets", 1, "model"), (6, 10)),
        (("models", "chat", "targets", 1, "weight"), (6, 9)),
        (("models", "chat", "strategy"), (3, 3)),
        (("logs", "level"), (1, 1)),
        ((), (1, 1)),
    ],
)
def test_a_problem_stands_at_its_key_or_at_the_nearest_holder(path: KeyPath, place: tuple[int, int]) -> None:
    document = _document()
    document.add(path, "bad", "")

    assert (document.problems[0].line, document.problems[0].column) == place


def test_a_problem_of_an_overridden_value_names_the_variable() -> None:
    document = _document()
    document.origins["server",] = "VARIABLE"
    document.add(("server", "listen"), "bad", "Fix.")

    assert str(document.problems[0]) == "VARIABLE: server.listen: bad. Fix."


def test_a_warning_is_no_problem() -> None:
    document = _document()
    document.warn(("server",), "odd", "")

    document.raise_problems()
    assert [warning.message for warning in document.warnings] == ["odd"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("server", "listen"), "a"),
        (("models", "chat", "targets", 0), {"model": "x"}),
        (("models", "chat", "targets", 2), None),
        (("models", "chat", "targets", "model"), None),
        (("server", "listen", "port"), None),
        (("server", "nothing"), None),
    ],
)
def test_a_value_is_found_by_its_path(path: KeyPath, value: object) -> None:
    assert _document().value(path) == value


@pytest.mark.parametrize("path", [("server", "listen"), ("models", "chat", "targets", 1), ("server", "new")])
def test_a_value_can_be_put_into_its_holder(path: KeyPath) -> None:
    document = _document()

    document.put(path, "new")

    assert document.value(path) == "new"


def test_a_dropped_entry_is_gone_and_closed_with_everything_below() -> None:
    document = _document()

    document.drop(("server", "listen"))

    assert document.value(("server",)) == {}
    assert document.is_closed(("server", "listen", "port"))
    assert not document.is_closed(("server",))


def test_a_holder_with_a_dropped_value_is_not_whole() -> None:
    document = _document()

    document.drop(("server", "listen"))

    assert not document.is_whole(("server",))
    assert not document.is_whole(("server", "listen", "port"))
    assert document.is_whole(("models",))


def test_a_faulty_list_item_takes_its_list_with_it() -> None:
    document = _document()

    document.drop(("models", "chat", "targets", 0))

    assert document.value(("models", "chat")) == {}
    assert document.is_closed(("models", "chat", "targets"))


def test_the_whole_document_can_be_dropped() -> None:
    document = _document()

    document.drop(())

    assert document.is_closed(("anything",))


def test_what_is_dropped_already_can_be_dropped_again() -> None:
    document = _document()
    document.drop(("server",))

    document.drop(("server", "listen"))

    assert document.is_closed(("server", "listen"))


def test_a_closed_value_gets_no_second_problem() -> None:
    document = _document()
    document.drop(("server",))

    document.add(("server", "listen"), "bad", "")

    assert not document.problems


def test_a_value_is_shown_as_the_file_has_it() -> None:
    document = _document()
    document.written["server", "listen"] = "${LISTEN}"

    assert document.shown(("server", "listen"), "resolved") == "'${LISTEN}'"
    assert document.shown(("models",), "plain") == "'plain'"


@pytest.mark.bug("J-01")
def test_the_value_of_a_variable_is_not_shown() -> None:
    document = _document()
    document.origins["server", "listen"] = "VARIABLE"

    assert document.shown(("server", "listen"), "value") == "(the value of VARIABLE)"
