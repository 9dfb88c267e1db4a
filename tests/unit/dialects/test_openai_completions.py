from typing import Any

import pytest

from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts
from pointsman.dialects.openai_completions import OpenAICompletions
from pointsman.domain.outcome import Usage
from pointsman.testing import plain
from tests.unit.dialects.reader import Reader

CODEC = OpenAICompletions()
READER = Reader(CODEC)
parsed, event, answer = READER.parsed, READER.event, READER.answer


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"stream": True}, "stream", True),
        ({"max_tokens": 7}, "max_output_tokens", 7),
        ({"prompt": [[1, 2], [3]]}, "tool_count", 0),
        ({"stream": True, "stream_options": {"include_usage": True}}, "wants_usage", True),
    ],
)
def test_a_field_becomes_a_fact(fields: dict[str, object], fact: str, expected: object) -> None:
    assert getattr(parsed(**fields).facts, fact) == expected


@pytest.mark.bug("E-08")
def test_a_stream_is_asked_for_its_usage() -> None:
    written = CODEC.write_request(CODEC.read_request(b'{"model":"m","prompt":"a","stream":true}'), "M")

    assert written == b'{"stream_options":{"include_usage":true},"model":"M","prompt":"a","stream":true}'


@pytest.mark.bug("E-06")
@pytest.mark.parametrize(("text", "says"), [("a", True), (" ", True), ("\n", True), ("", False), (None, False)])
def test_an_event_commits_when_it_has_text(text: Any, says: bool) -> None:
    expected = EventFacts(has_content=True) if says else PLAIN_EVENT

    assert event(plain.completion(text)) == expected


def test_content_is_not_looked_for_once_it_has_come() -> None:
    assert event(plain.completion("a"), before_visible=False) is PLAIN_EVENT


@pytest.mark.bug("E-12")
def test_the_finish_reason_may_come_with_text() -> None:
    found = event(plain.completion("a", finish_reason="length"))

    assert found == EventFacts(has_content=True, finish_reason="length")


@pytest.mark.bug("B-16")
@pytest.mark.parametrize(
    ("text", "finish", "tokens", "fault"),
    [("", "stop", 0, "empty"), ("", "stop", 1, None), ("", "length", 0, None), ("a", "stop", 0, None)],
)
def test_an_answer_is_empty_only_if_the_provider_says_so(
    text: str, finish: str, tokens: int, fault: str | None
) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": tokens}

    found = answer(plain.completion(text, finish_reason=finish, usage=usage))

    assert found == AnswerFacts(Usage(3, tokens), fault=fault)
