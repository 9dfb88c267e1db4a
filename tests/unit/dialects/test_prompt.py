"""What a request is about, by marks in a bounded part of its messages."""

import json

import pytest

from pointsman.dialects.prompt import with_prompt
from pointsman.domain.score_policy import PromptFeature
from pointsman.testing import builders

ALL = frozenset(PromptFeature)
SAID = {
    "fix this:\n```\nx = 1\n```": ["code"],
    "def add(a, b):\n    return a + b": ["code"],
    "SELECT name FROM users": ["code"],
    "diff --git a/x b/x\n@@ -1,2 +1,3 @@": ["diff"],
    "Traceback (most recent call last):\n  File": ["stack_trace"],
    "it dies:\n    at com.example.Main.run(Main.java:3)": ["stack_trace"],
    "panic: runtime error": ["stack_trace"],
    "Summarise this letter.": ["summarize"],
    "tl;dr please": ["summarize"],
    "Extract all dates.": ["extract"],
    "Translate it into French.": ["translate"],
    "Do a security review, look for vulnerabilities.": ["security_review"],
    "What is the capital of France?": [],
    "We define a class of people who import goods": [],
}


def messages(said: str) -> bytes:
    return json.dumps([{"role": "user", "content": said}]).encode()


@pytest.mark.req("D-015")
@pytest.mark.parametrize("said", SAID)
def test_marks_in_messages_are_found(said: str) -> None:
    assert with_prompt(builders.facts(), messages(said), ALL, 16_384).features == tuple(SAID[said])


@pytest.mark.req("D-015")
def test_tools_make_an_agent() -> None:
    facts = builders.facts(tool_count=1)

    assert with_prompt(facts, b"[]", ALL, 100).features == (PromptFeature.TOOL_AGENT,)


@pytest.mark.req("D-014", "D-015")
def test_only_what_is_wanted_is_looked_for() -> None:
    said = messages("Summarise and translate it.")

    assert with_prompt(builders.facts(tool_count=1), said, {PromptFeature.TRANSLATE}, 16_384).features == ("translate",)
    assert with_prompt(builders.facts(), said, frozenset(), 16_384).features == ()


@pytest.mark.req("D-014")
@pytest.mark.parametrize(("place", "found"), [("start", True), ("middle", False), ("end", True)])
def test_both_ends_of_long_messages_are_read(place: str, found: bool) -> None:
    parts = {"start": "", "middle": "", "end": "", place: "translate"}
    filler = " x " * 5_000

    told = with_prompt(builders.facts(), messages(filler.join(parts.values())), ALL, 1_000)

    assert told.features == (("translate",) if found else ())


@pytest.mark.req("D-034")
@pytest.mark.parametrize("kind", ["image_url", "input_image", "image"])
def test_images_are_seen(kind: str) -> None:
    said = json.dumps([{"role": "user", "content": [{"type": kind}]}]).encode()

    assert with_prompt(builders.facts(), said, ALL, 10).has_images is True
    assert with_prompt(builders.facts(), messages("an image"), ALL, 10).has_images is False
