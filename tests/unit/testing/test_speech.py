"""One answer, said in each dialect."""

import msgspec
import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import Chat, Status, ToolCall, Truncated, stream_of
from pointsman.testing.chat import Asked
from pointsman.testing.script import End, steps
from pointsman.testing.speech import SPEECHES

MESSAGES = Asked(dialect=Dialect.ANTHROPIC_MESSAGES, stream=True)
FULL = Chat("so", reasoning="hm", tool_calls=(ToolCall("f"),))


def test_every_dialect_is_spoken() -> None:
    assert set(SPEECHES) == set(Dialect)


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (Chat("a"), "end_turn"),
        (FULL, "tool_use"),
        (Chat("a", finish_reason="length"), "max_tokens"),
        (Chat("a", finish_reason="pause_turn"), "pause_turn"),
    ],
)
def test_finish_reason_is_said_in_the_words_of_the_dialect(answer: Chat, stop: str) -> None:
    speech = SPEECHES[Dialect.ANTHROPIC_MESSAGES]

    (end,) = speech.stream(answer, MESSAGES).closing

    assert speech.whole(answer, MESSAGES)["stop_reason"] == stop
    assert b'"stop_reason":"%b"' % stop.encode() in end


def test_whole_message_has_thinking_text_and_tools_in_this_order() -> None:
    whole = SPEECHES[Dialect.ANTHROPIC_MESSAGES].whole(FULL, MESSAGES)

    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use"]


def test_whole_chat_answer_has_its_reasoning_beside_the_text() -> None:
    message = SPEECHES[Dialect.OPENAI_CHAT].whole(FULL, Asked())["choices"][0]["message"]

    assert (message["reasoning_content"], message["content"]) == ("hm", "so")


def test_reasoning_of_a_chat_stream_comes_first() -> None:
    pieces = SPEECHES[Dialect.OPENAI_CHAT].stream(FULL, Asked()).pieces

    assert b'"reasoning_content":"hm"' in pieces[0]


def test_usage_is_left_out_on_request() -> None:
    speech = SPEECHES[Dialect.ANTHROPIC_MESSAGES]

    assert "usage" not in speech.whole(Chat("a", usage=None), MESSAGES)
    assert speech.whole(Chat("a", usage=Usage(3, 4)), MESSAGES)["usage"]["input_tokens"] == 3


@pytest.mark.parametrize("answer", [Chat("a b"), Status(500), Truncated(), stream_of("a", dialect=MESSAGES.dialect)])
def test_answer_in_the_other_dialect_has_its_bytes_and_its_end(answer: object) -> None:
    *parts, end = steps(answer, MESSAGES)  # type: ignore[arg-type]

    assert isinstance(end, End)
    assert b"choices" not in b"".join(part for part in parts if isinstance(part, bytes))


def test_stream_of_messages_ends_with_its_terminator() -> None:
    *parts, _ = steps(stream_of("a", dialect=MESSAGES.dialect), MESSAGES)

    events = [
        part.split(b"data: ")[1].split(b"\n")[0] for part in parts if isinstance(part, bytes) and b"data: " in part
    ]
    types = [msgspec.json.decode(event)["type"] for event in events]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert types == ["message_start", *block, "message_delta", "message_stop"]


RESPONSES = Asked(dialect=Dialect.OPENAI_RESPONSES, stream=True)


@pytest.mark.parametrize(
    ("answer", "status", "incomplete"),
    [
        (Chat("a"), "completed", None),
        (FULL, "completed", None),
        (Chat("a", finish_reason="length"), "incomplete", {"reason": "max_output_tokens"}),
    ],
)
def test_response_ends_with_a_status_in_both_forms(
    answer: Chat, status: str, incomplete: dict[str, str] | None
) -> None:
    speech = SPEECHES[Dialect.OPENAI_RESPONSES]

    whole = speech.whole(answer, RESPONSES)
    last = msgspec.json.decode(speech.stream(answer, RESPONSES).done.split(b"data: ")[1])

    assert (whole["status"], whole["incomplete_details"]) == (status, incomplete)
    assert (last["type"], last["response"]) == (f"response.{status}", whole)


def test_events_of_a_response_are_numbered_and_have_reasoning_text_and_tools_in_this_order() -> None:
    spoken = SPEECHES[Dialect.OPENAI_RESPONSES].stream(FULL, RESPONSES)

    events = [msgspec.json.decode(raw.split(b"data: ")[1]) for raw in (*spoken.opening, *spoken.pieces, spoken.done)]

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    added = [event["item"]["type"] for event in events if event["type"] == "response.output_item.added"]
    assert added == ["reasoning", "message", "function_call"]
