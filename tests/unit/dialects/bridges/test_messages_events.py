"""Streams of Messages targets, as callers of Chat Completions get them."""

from typing import Any

import pytest

from pointsman.testing import ToolCall, messages
from tests.unit.dialects.bridges.carried import CHAT, CREATED_S, finishes, message, streamed

START = messages.message_start(usage={"input_tokens": 9, "output_tokens": 1})
END = messages.message_delta("end_turn", {"output_tokens": 4})


def usage(chunks: list[Any]) -> dict[str, Any]:
    """The usage of a stream, which comes once."""
    (found,) = [chunk["usage"] for chunk in chunks if isinstance(chunk, dict) and "usage" in chunk]
    return dict(found)


def test_each_event_goes_on_at_once_and_the_end_with_its_usage() -> None:
    found = streamed(CHAT, START, *messages.text_events("one two", 0), END, messages.STOP)

    assert message(found)["content"] == "one two"
    assert [chunk["choices"][0]["delta"] for chunk in found[:4] if isinstance(chunk, dict)] == [
        {"role": "assistant", "content": ""}, {"content": "one "}, {"content": "two"}, {},
    ]  # fmt: skip
    assert (finishes(found), found[-1]) == (["stop"], "[DONE]")
    assert usage(found) == {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@pytest.mark.bug("E-12")
def test_all_chunks_are_of_one_answer() -> None:
    found = streamed(CHAT, START, *messages.text_events("x", 0), END, messages.STOP)

    heads = {
        (chunk["id"], chunk["object"], chunk["created"], chunk["model"]) for chunk in found if isinstance(chunk, dict)
    }
    assert heads == {("chatcmpl-fake", "chat.completion.chunk", CREATED_S, "fake-model")}


@pytest.mark.bug("G-01")
def test_calls_are_counted_over_calls_and_not_over_blocks() -> None:
    calls = [ToolCall("f", '{"a": 1}', "t1"), ToolCall("g", '{"b": 2}', "t2")]
    said = [event for index, call in enumerate(calls, 1) for event in messages.tool_use_events(call, index)]

    found = streamed(CHAT, START, *messages.text_events("so", 0), *said, END, messages.STOP)

    assert message(found)["tool_calls"] == [
        {"id": "t1", "name": "f", "arguments": '{"a": 1}'}, {"id": "t2", "name": "g", "arguments": '{"b": 2}'},
    ]  # fmt: skip
    assert finishes(found) == ["tool_calls"]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    found = streamed(CHAT, START, *messages.tool_use_events(ToolCall("f", "", "t1"), 0), END, messages.STOP)

    assert message(found)["tool_calls"][0]["arguments"] == "{}"


@pytest.mark.bug("G-05")
def test_arguments_that_a_block_begins_with_are_kept() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}

    found = streamed(CHAT, START, messages.block_start(block), messages.block_stop(), END, messages.STOP)

    assert message(found)["tool_calls"][0]["arguments"] == '{"a":1}'


@pytest.mark.bug("G-10")
def test_thoughts_are_apart_from_the_text() -> None:
    found = streamed(
        CHAT, START, *messages.thinking_events("hm", 0), *messages.text_events("so", 1), END, messages.STOP
    )

    assert (message(found)["content"], message(found)["reasoning_content"]) == ("so", "hm")


def test_what_a_block_begins_with_is_kept() -> None:
    text, thought = messages.text_block("so"), messages.thinking_block("hm")

    found = streamed(CHAT, START, messages.block_start(thought), messages.block_start(text, 1))

    assert (message(found)["content"], message(found)["reasoning_content"]) == ("so", "hm")


@pytest.mark.parametrize(
    "event",
    [
        messages.ping(),
        {"type": "what_comes_next"},
        messages.block_start({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        messages.block_delta({"type": "citations_delta", "citation": {}}),
        messages.block_delta({"type": "input_json_delta", "partial_json": "{}"}, 7),
        messages.block_stop(7),
    ],
)
def test_what_has_no_place_here_is_no_chunk(event: dict[str, Any]) -> None:
    assert len(streamed(CHAT, START, event)) == 1


@pytest.mark.bug("H-03")
@pytest.mark.parametrize(
    ("start", "deltas", "expected"),
    [
        ({"input_tokens": 10, "output_tokens": 1}, [{"output_tokens": 50}], (10, 50, None)),
        (
            {"input_tokens": 0},
            [{"input_tokens": 100, "cache_read_input_tokens": 800, "output_tokens": 50}],
            (900, 50, 800),
        ),
        ({"input_tokens": 10}, [{"output_tokens": count} for count in (5, 20, 50)], (10, 50, None)),
    ],
)
def test_counts_replace_those_before_them(
    start: dict[str, int], deltas: list[dict[str, int]], expected: tuple[int | None, ...]
) -> None:
    ends = [messages.message_delta("end_turn", delta) for delta in deltas]

    counted = usage(streamed(CHAT, messages.message_start(usage=start), *ends, messages.STOP))

    details = counted.get("prompt_tokens_details", {})
    assert (counted["prompt_tokens"], counted["completion_tokens"], details.get("cached_tokens")) == expected


@pytest.mark.bug("E-12")
def test_a_reason_that_is_given_again_and_again_reaches_the_caller_once() -> None:
    found = streamed(CHAT, START, *messages.text_events("x", 0), END, END, END, messages.STOP)

    assert finishes(found) == ["stop"]


@pytest.mark.bug("E-04")
def test_a_stream_that_breaks_before_its_end_shows_no_reason() -> None:
    found = streamed(CHAT, START, *messages.text_events("x", 0), END)

    assert (finishes(found), "[DONE]" in found) == ([], False)


@pytest.mark.bug("E-05")
def test_an_error_keeps_its_words_and_its_type() -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    last = streamed(CHAT, START, failed)[-1]

    error = {"message": "Overloaded", "type": "overloaded_error", "code": None, "param": None}
    assert last == {"error": error}


@pytest.mark.bug("E-16")
def test_what_cannot_be_read_is_malformed_in_the_other_dialect_too() -> None:
    assert streamed(CHAT, START, b'event: content_block_delta\ndata: {"type":"content_bl\n\n')[-1] == "{"


def test_events_without_data_or_details_say_nothing() -> None:
    bare = [b"data:\n\n", *({"type": f"content_block_{part}"} for part in ("start", "delta", "stop"))]

    assert len(streamed(CHAT, START, *bare, {"type": "message_delta"})) == 1
    assert message(streamed(CHAT, {"type": "message_start"}))["content"] == ""
