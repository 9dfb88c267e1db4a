"""docs/overload.md: its numbers are those of the code."""

from pointsman.config.settings import DEFAULT_QUEUE_S
from pointsman.http1 import overload, pressure
from pointsman.http1.limits import EdgeLimits
from pointsman.http1.overload import COPIES, STEPS, MemoryStep
from pointsman.observability.stalls import STALL_S
from tests.docs import pages

PAGE = "docs/overload.md"
COPIES_IN_WORDS = {3: "three times"}


def test_documented_rules_of_the_queue_are_those_of_the_code() -> None:
    rules = {row["rule"]: row["number"] for row in pages.table(PAGE, "Queue")}

    assert list(rules.values()) == [
        f"`server.limits.queue`, {DEFAULT_QUEUE_S * 1000:g} ms",
        f"{overload.STANDING_S:g} s of turns that are too long, one after the other; a single one is a burst",
        "a tenth, times how many limits long the turn was, up to three tenths",
        f"{overload._GROW * 100:g} percentage point",
        f"{overload.MIN_RATIO * 100:g} %: nothing else would show that it is over",
        f"{overload.CALM_S:g} s without a long turn",
        "1 s, divided by the part that is admitted",
    ]
    assert (overload._SHRINK, overload._MAX_SHRINK) == (0.1, 0.3)


def test_documented_steps_of_memory_are_those_of_the_code() -> None:
    rows = [row["memory in use"] for row in pages.table(PAGE, "Memory")]

    assert rows == [f"{STEPS[step] * 100:g} %" for step in (*MemoryStep,)[1:]]


def test_documented_values_around_the_steps_are_those_of_the_code() -> None:
    text = " ".join(pages.section(PAGE, "Memory").split())

    assert f"{COPIES_IN_WORDS[COPIES]} its announced length" in text
    assert f"left {overload._MARGIN * 100:g} % below" in text
    assert f"every {pressure._GIVE_BACK_EVERY_S:g} s" in text
    assert EdgeLimits(1, 1, 1).reserved_s == 1.0
    assert "have a second to ask a probe" in text


def test_documented_length_of_a_stall_is_that_of_the_code() -> None:
    assert f"for {STALL_S:g} s or more" in pages.section(PAGE, "Stalls")
