"""docs/strategies.md: the presets of pauses are those of the code."""

import re

import pytest

from pointsman.domain.policy import MARKET, STRICT, Cooldown
from pointsman.domain.view import Limit
from tests.docs import pages

PAGE = "docs/strategies.md"
PAUSES = {row[""]: row for row in pages.table(PAGE, "Pauses")}


def first_number(cell: str) -> int:
    found = re.search(r"\d+", cell)
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize(("preset", "policy"), [("`strict`", STRICT), ("`market`", MARKET)])
def test_documented_presets_are_those_of_the_code(preset: str, policy: Cooldown) -> None:
    assert first_number(PAUSES["faults in a row that pause"][preset]) == policy.fault_threshold
    assert first_number(PAUSES["first pause, doubling up to 5 m"][preset]) == policy.base_s
    assert first_number(PAUSES["confirmed 401, 402 or 404"][preset]) * 60 == policy.max_s
    assert first_number(PAUSES["probes that must succeed"][preset]) == policy.closing_successes
    assert ("half" in PAUSES["most that may be paused"][preset]) == (policy.ejection is not None)


def test_every_configured_limit_is_documented_as_a_gate() -> None:
    documented = [name for row in pages.table(PAGE, "Gates") for name in pages.codes(row["gate"])]

    assert documented == [limit for limit in Limit if limit is not Limit.PROVIDER]
