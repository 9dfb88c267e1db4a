"""The table of cases: what was done to the gateway, what had to hold, and what came of it (`pytest --cases`).

The name of a test is the criterion. A test shows a figure with the fixture `figure`; without one the table says how
many of its forms have passed. Only T ids are cases.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pytest
from msgspec import Struct, field

from tests.requirements import catalogue

ELSEWHERE: Mapping[str, str] = {
    "T19": "the limit of memory needs a control group; the caps themselves are tested",
    "T72": "the kernel's own kill needs a control group of memory; the greatest memory is measured instead",
    "T73": "without a control group of the processor its test is skipped",
}  # what this environment cannot do, and why
_OPTION = "--cases"
_PROPERTY, FIGURE = "case", "figure"
_COLUMNS = (4, 34, 80, 64)


class Row(Struct):
    """What came of one criterion of one case."""

    forms: int = 0
    failures: int = 0
    figures: list[str] = field(default_factory=list)

    @property
    def figure(self) -> str:
        return "; ".join(dict.fromkeys(self.figures)) or f"{self.forms - self.failures} of {self.forms}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, action="store_true", help="print the table of cases at the end")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Properties, unlike marks, come back from the processes that run tests."""
    for item in items:
        ids = {id_ for mark in item.iter_markers("case") for id_ in mark.args if id_.startswith("T")}
        item.user_properties += [(_PROPERTY, id_) for id_ in sorted(ids)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption(_OPTION):
        return
    reports = [report for kind in ("passed", "failed", "error") for report in terminalreporter.getreports(kind)]
    titles = catalogue()["case"]
    terminalreporter.section("cases")
    terminalreporter.line(_line("case", "stimulus", "criterion", "figure", "pass"))
    for (id_, criterion), row in sorted(rows(reports).items(), key=lambda item: (int(item[0][0][1:]), item[0][1])):
        terminalreporter.line(_line(id_, titles[id_], criterion, row.figure, "no" if row.failures else "yes"))
    for id_, reason in ELSEWHERE.items():
        terminalreporter.line(f"{id_} {titles[id_]}: not all of it runs here: {reason}")


def rows(reports: Iterable[pytest.TestReport]) -> Mapping[tuple[str, str], Row]:
    """By case and criterion."""
    found: defaultdict[tuple[str, str], Row] = defaultdict(Row)
    for report in reports:
        properties = list(report.user_properties)
        for id_ in (str(value) for name, value in properties if name == _PROPERTY):
            row = found[id_, _criterion(report.nodeid)]
            row.forms += report.when == "call" or report.failed
            row.failures += report.failed
            row.figures += [str(value) for name, value in properties if name == FIGURE and report.when == "call"]
    return found


def _criterion(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0].removeprefix("test_").replace("_", " ")


def _line(*texts: str) -> str:
    return "  ".join(_cells(texts)).rstrip()


def _cells(texts: tuple[str, ...]) -> Iterator[str]:
    for text, width in zip(texts, (*_COLUMNS, 4), strict=True):
        yield f"{text[:width]:{width}}"
