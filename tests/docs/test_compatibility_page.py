"""docs/compatibility.md: what was run is what is pinned, and all that is there was run."""

import pytest

from tests import compatibility
from tests.docs import pages

PAGE = "docs/compatibility.md"
EXPECTED = {
    "SDKs and frameworks": compatibility.expected_of_sdks,
    "Agents": compatibility.expected_of_agents,
}


@pytest.mark.parametrize("heading", EXPECTED)
def test_every_client_was_run_in_the_version_that_is_pinned_and_all_is_as_it_should_be(heading: str) -> None:
    found, *_ = pages.tables(pages.section(PAGE, heading))

    expected = EXPECTED[heading]()
    assert [list(row) for row in found] == [list(compatibility.HEAD)] * len(expected)
    assert [list(row.values()) for row in found] == [[*row, *cells] for row, cells in expected.items()]


def test_a_table_is_replaced_and_nothing_else() -> None:
    page = pages.text(PAGE)
    rows = compatibility.expected_of_agents()

    once = compatibility.with_table(page, compatibility.AGENTS, rows)

    assert compatibility.with_table(once, compatibility.AGENTS, rows) == once
    assert pages.prose(once).count("|---") == page.count("|---")
