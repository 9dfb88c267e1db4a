"""The table of cases adds up what tests report."""

import pytest

from tests.cases import ELSEWHERE, Row, rows
from tests.requirements import catalogue

FILE = "tests/e2e/test_stop.py"


def report(
    test: str, *ids: str, failed: bool = False, when: str = "call", figure: str | None = None
) -> pytest.TestReport:
    properties: list[tuple[str, object]] = [("case", id_) for id_ in ids]
    properties += [] if figure is None else [("figure", figure)]
    outcome = "failed" if failed else "passed"
    return pytest.TestReport(f"{FILE}::{test}", (FILE, 1, test), {}, outcome, None, when, user_properties=properties)  # type: ignore[arg-type]


def test_forms_of_a_test_are_one_row() -> None:
    found = rows([report("test_it_ends[a]", "T88"), report("test_it_ends[b]", "T88", failed=True)])

    assert found == {("T88", "it ends"): Row(forms=2, failures=1)}
    assert found["T88", "it ends"].figure == "1 of 2"


def test_a_test_of_two_cases_is_in_both_rows() -> None:
    assert set(rows([report("test_it_ends", "T88", "T89")])) == {("T88", "it ends"), ("T89", "it ends")}


def test_figures_are_shown_once_each() -> None:
    found = rows([report(f"test_it_ends[{form}]", "T88", figure=figure) for form, figure in enumerate("112")])

    assert found["T88", "it ends"].figure == "1; 2"


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_what_breaks_around_a_test_is_a_failure_of_its_case(when: str) -> None:
    broken = report("test_it_ends", "T88", when=when, failed=True)

    assert rows([broken])["T88", "it ends"].failures == 1


def test_what_is_said_not_to_run_here_is_a_known_case() -> None:
    assert set(ELSEWHERE) <= set(catalogue()["case"])
