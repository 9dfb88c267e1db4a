"""How problems are written."""

import pytest

from pointsman.config.problems import ConfigError, Problem, dotted, nearest, quoted
from pointsman.domain.errors import PointsmanError


def _problem(line: int, path: str = "a") -> Problem:
    return Problem(path, line, 1, "message", "Fix.", source="file")


def test_a_problem_says_where_what_and_how_to_repair_it() -> None:
    found = Problem(
        path="models.chat.targets[0].provider",
        line=12,
        column=9,
        message="unknown provider 'opnai'",
        fix="Did you mean 'openai'?",
        source="pointsman.yaml",
    )

    assert str(found) == (
        "pointsman.yaml:12:9: models.chat.targets[0].provider: unknown provider 'opnai'. Did you mean 'openai'?"
    )


def test_a_source_without_lines_has_no_numbers() -> None:
    assert str(Problem("server.listen", 0, 0, "bad", "Fix.", source="POINTSMAN__SERVER__LISTEN")) == (
        "POINTSMAN__SERVER__LISTEN: server.listen: bad. Fix."
    )


def test_a_problem_of_the_whole_file_has_no_path() -> None:
    assert str(Problem("", 1, 1, "bad", "Fix.", source="file")) == "file:1:1: bad. Fix."


def test_a_problem_without_a_fix_ends_after_its_message() -> None:
    assert str(Problem("a", 1, 1, "bad", "", source="file")) == "file:1:1: a: bad."


def test_an_error_lists_its_problems_in_the_order_of_the_file() -> None:
    error = ConfigError([_problem(3), _problem(1, "b"), _problem(1, "a")])

    assert [(each.line, each.path) for each in error.problems] == [(1, "a"), (1, "b"), (3, "a")]
    assert str(error).splitlines() == [str(each) for each in error.problems]
    assert isinstance(error, PointsmanError)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("server", "listen"), "server.listen"),
        (("models", "a/b:c@d", "targets", 0, "weight"), "models.a/b:c@d.targets[0].weight"),
        (("models", "two words"), "models.'two words'"),
        (("models", "\x1b[31m"), "models.'\\x1b[31m'"),
        (("models", "\u00e4"), "models.'\u00e4'"),
    ],
)
def test_a_path_is_written_with_dots_and_brackets(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


def test_a_long_key_is_cut() -> None:
    assert dotted(("x" * 81,)) == "'" + "x" * 80 + "...'"
    assert quoted("x" * 80) == "'" + "x" * 80 + "'"


def test_the_closest_name_is_proposed_in_its_own_spelling() -> None:
    assert nearest("OPNAI", ["OpenAI", "local"]) == "Did you mean 'OpenAI'?"


def test_names_are_listed_when_none_is_close() -> None:
    assert nearest("zzz", ["b", "a"]) == "Known here: a, b."


def test_another_fix_takes_the_place_of_the_list() -> None:
    assert nearest("zzz", ["b", "a"], otherwise="Declare it.") == "Declare it."


def test_a_long_list_of_names_is_cut() -> None:
    fix = nearest("zzz", [f"n{number:02}" for number in range(20)])

    assert fix.endswith("n14 and 5 more.")


def test_a_very_long_word_is_compared_with_nothing() -> None:
    assert nearest("a" * 81, ["a" * 80]) == f"Known here: {'a' * 80}."
