"""The tool that shows which tests prove what."""

import re
import subprocess
import sys

import pytest

from tests.requirements import (
    TESTS,
    Mark,
    UnreadableMarkError,
    all_marks,
    catalogue,
    marks_of,
    marks_of_scenarios,
    report,
    unknown,
)

KNOWN = {
    "req": {"R-001": "first", "R-002": "second", "G-001": "third"},
    "case": {"T01": "fourth"},
    "trap": {},
    "bug": {},
}


def found(source: str) -> set[Mark]:
    return set(marks_of(source, "tests/test_x.py"))


def test_marks_of_a_function_are_found() -> None:
    source = '@pytest.mark.req("R-001", "R-002")\n@pytest.mark.bug("A-01")\nasync def test_it(): ...'

    assert found(source) == {
        Mark("req", "R-001", "tests/test_x.py::test_it"),
        Mark("req", "R-002", "tests/test_x.py::test_it"),
        Mark("bug", "A-01", "tests/test_x.py::test_it"),
    }


def test_marks_of_a_parameter_belong_to_its_test() -> None:
    source = '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.case("T01"))])\ndef test_it(x): ...'

    assert found(source) == {Mark("case", "T01", "tests/test_x.py::test_it")}


def test_marks_of_a_class_belong_to_the_class() -> None:
    source = '@mark.req("R-001")\nclass TestIt:\n    def test_a(self): ...'

    assert found(source) == {Mark("req", "R-001", "tests/test_x.py::TestIt")}


def test_marks_inside_a_class_belong_to_the_method() -> None:
    source = 'class TestIt:\n    @pytest.mark.req("R-001")\n    def test_a(self): ...'

    assert found(source) == {Mark("req", "R-001", "tests/test_x.py::TestIt::test_a")}


def test_marks_of_a_module_belong_to_the_file() -> None:
    assert found('pytestmark = pytest.mark.req("R-001")') == {Mark("req", "R-001", "tests/test_x.py")}


def test_ids_of_a_scenario_belong_to_it() -> None:
    source = "- {scenario: one, req: [R-001, R-002]}\n- {scenario: none}\n"

    assert list(marks_of_scenarios(source, "tests/scenarios/x.yaml")) == [
        Mark("req", "R-001", "tests/scenarios/x.yaml::one"),
        Mark("req", "R-002", "tests/scenarios/x.yaml::one"),
    ]


def test_ids_of_scenarios_are_among_those_of_all_tests() -> None:
    assert any(mark.test.startswith("tests/scenarios/acceptance.yaml::") for mark in all_marks(TESTS))


def test_marks_in_a_text_do_not_count() -> None:
    assert found("x = '@pytest.mark.req(\"R-001\")'") == set()


def test_other_marks_and_methods_do_not_count() -> None:
    assert found('@pytest.mark.slow("R-001")\ndef test_it():\n    thing.req("R-002"); req("R-001")') == set()


def test_mark_whose_ids_are_not_written_out_is_refused() -> None:
    with pytest.raises(UnreadableMarkError, match=r"tests/test_x.py::test_it.*line 1"):
        found("@pytest.mark.req(*IDS)\ndef test_it(): ...")


def test_id_that_does_not_exist_is_named_with_its_test() -> None:
    marks = [Mark("case", "T02", "x::y"), Mark("req", "R-001", "x::y")]

    assert unknown(marks, KNOWN) == ["x::y: there is no case T02"]


def test_id_of_one_kind_is_unknown_as_another_kind() -> None:
    assert unknown([Mark("case", "R-001", "x::y")], KNOWN)


def test_report_shows_every_id_with_its_tests_and_the_bare_ones_by_group() -> None:
    lines = list(report([Mark("req", "R-002", "x::y"), Mark("req", "R-002", "x::y")], KNOWN))

    assert lines == [
        "requirements, R: 1 of 2 have a test",
        "  R-002  second",
        "         x::y",
        "  without a test:",
        "  R-001  first",
        "",
        "requirements, G: 0 of 1 have a test",
        "  without a test:",
        "  G-001  third",
        "",
        "cases and invariants, T: 0 of 1 have a test",
        "  without a test:",
        "  T01    fourth",
        "",
        "all: 1 of 4 ids have a test",
    ]


def test_every_mark_of_this_repository_names_an_id_that_exists() -> None:
    assert unknown(all_marks(TESTS), catalogue()) == []


def test_every_id_has_a_short_title() -> None:
    titles = [title for ids in catalogue().values() for title in ids.values()]

    assert all(0 < len(title) <= 80 for title in titles)


def test_every_id_has_the_form_of_its_kind() -> None:
    forms = {"req": r"[RGODCX]-\d{2,3}", "case": r"T\d{2,3}|I\d{1,2}", "trap": r"\d{1,2}", "bug": r"[A-P]-\d{1,2}"}

    for kind, ids in catalogue().items():
        assert all(re.fullmatch(forms[kind], id_) for id_ in ids)


def test_command_prints_the_totals_and_succeeds() -> None:
    command = [sys.executable, "-m", "tests.requirements"]

    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)  # noqa: S603

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^all: \d+ of \d+ ids have a test$", done.stdout, re.MULTILINE)
