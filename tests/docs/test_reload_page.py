"""docs/reload.md: results, fields of the status, keys that need a restart."""

import json
import re

from pointsman.config.settings import NEEDS_RESTART
from pointsman.reload import WATCH_S, Reload, Result, Trigger
from tests.docs import gateway, pages

PAGE = "docs/reload.md"
STATUS = json.loads(gateway.run().status)
(EXAMPLE,) = map(json.loads, pages.blocks(pages.text(PAGE), "json"))


def test_every_result_is_documented() -> None:
    assert [pages.code(row["result"]) for row in pages.table(PAGE, "Results")] == [result.value for result in Result]


def test_every_key_that_needs_a_restart_is_documented() -> None:
    documented = [pages.code(row["key"]) for row in pages.table(PAGE, "What needs a restart")]

    assert documented == list(NEEDS_RESTART.values())


def test_every_field_of_the_status_is_documented() -> None:
    documented = [pages.code(row["field"]) for row in pages.table(PAGE, "Status")]

    assert documented == list(STATUS)


def test_example_of_the_status_has_the_fields_of_a_status() -> None:
    assert list(EXAMPLE) == list(STATUS)
    assert list(EXAMPLE["last_reload"]) == list(Reload.__struct_fields__)
    assert EXAMPLE["last_reload"]["result"] in set(Result)


def test_documented_triggers_are_those_of_the_code() -> None:
    (row,) = [row for row in pages.table(PAGE, "Status") if row["field"] == "`last_reload`"]
    (triggers,) = re.findall(r"`trigger` is `(\w+)` or `(\w+)`", row["meaning"])

    assert set(triggers) == set(Trigger)


def test_documented_time_of_the_watch_is_that_of_the_code() -> None:
    assert "Once a second" in pages.section(PAGE, "The watch")
    assert WATCH_S == 1
