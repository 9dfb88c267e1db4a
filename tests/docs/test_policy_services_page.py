"""docs/policy-services.md: question and answers are those of the code."""

import json

import msgspec

from pointsman.domain.opinion import Question
from pointsman.proxy import policy_services
from pointsman.signals.circuit import FAILURES, PAUSE_S
from tests.docs import pages

PAGE = "docs/policy-services.md"
QUESTION, *ANSWERS = pages.blocks(pages.text(PAGE), "json")


def test_documented_question_has_every_field_and_no_other() -> None:
    question = msgspec.json.decode(QUESTION, type=Question)

    assert json.loads(msgspec.json.encode(question)) == json.loads(QUESTION)


def test_documented_answers_are_read() -> None:
    ids = ("own/llama", "rented/llama")

    assert [policy_services._read(answer.encode(), ids) for answer in ANSWERS] == [
        {"own/llama": 0.9, "rented/llama": 0.4},
        {"own/llama": 1.0, "rented/llama": 0.5},
    ]


def test_documented_circuit_is_that_of_the_code() -> None:
    assert f"After {FAILURES} failures in a row the service is not asked for {PAUSE_S:g} s" in pages.text(PAGE)
