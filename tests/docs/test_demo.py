"""docs/cli.md on the demo: its story, and the columns and limits of its view."""

from pointsman.demo import table
from pointsman.demo.events import EVENTS, LOOP_S
from pointsman.demo.picture import WINDOW_S
from pointsman.demo.traffic import RATE_PER_S
from tests.docs import pages

STORY, COLUMNS = pages.tables(pages.section("docs/cli.md", "The demo"))
TEXT = " ".join(pages.section("docs/cli.md", "The demo").split())


def test_documented_story_is_the_one_that_happens() -> None:
    documented = [(float(row["second"]), row["provider"].strip("`")) for row in STORY]

    assert documented == [(event.at_s, event.provider) for event in EVENTS]
    assert all(event.text.startswith(row["what happens"]) for row, event in zip(STORY, EVENTS, strict=True))


def test_every_column_is_documented_and_no_other() -> None:
    assert ["target", *(pages.code(row["column"]) for row in COLUMNS)] == [
        column.heading for column in table.PLAIN_COLUMNS
    ]


def test_documented_numbers_are_those_of_the_code() -> None:
    assert (RATE_PER_S, LOOP_S) == (4, 60)
    assert "about four requests per second" in TEXT
    assert "a loop of one minute" in TEXT
    assert f"the last {WINDOW_S:g} seconds" in TEXT
    assert f"at least {table.COLUMNS} columns and {table.ROWS} lines" in TEXT
