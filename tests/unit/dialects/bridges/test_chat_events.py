"""Streams of Chat Completions targets, as callers of Messages get them."""

from typing import Any

import pytest

from pointsman.dialects.bridges.blocks import MAX_HELD_CHARS
from pointsman.dialects.sse import EventTooLargeError
from pointsman.testing import ToolCall, chat
from tests.unit.dialects.bridges.carried import (
    EXPECTED_INPUT_TOKENS,
    MESSAGES,
    blocks,
    closing,
    streamed,
)

ROLE = chat.chunk(chat.role_delta())
STOP = chat.chunk({}, finish_reason="stop")
CALLED = chat.chunk({}, finish_reason="tool_calls")
USAGE = chat.usage_chunk({"prompt_tokens": 9, "completion_tokens": 4})


def text(said: str) -> dict[str, Any]:
    return chat.chunk(chat.text_delta(said))


def piece(arguments: str | None = None, **fields: Any) -> dict[str, Any]:
    """A delta with one piece of a call."""
    name = fields.pop("name", None)
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return chat.chunk({"tool_calls": [{**fields, "function": function}]})


def calls(*events: dict[str, Any]) -> list[tuple[str, str, object]]:
    """Id, name and arguments of the calls that a caller gets."""
    found = blocks(streamed(MESSAGES, ROLE, *events, CALLED, chat.DONE))
    return [(block["id"], block["name"], block["input"]) for block in found if block["type"] == "tool_use"]


def types(events: list[Any]) -> list[str]:
    return [event["type"] for event in events]


def test_each_event_goes_on_at_once_and_the_end_with_its_usage() -> None:
    found = streamed(MESSAGES, ROLE, text("one "), text("two"), STOP, USAGE, chat.DONE)

    assert types(found) == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    assert blocks(found) == [{"type": "text", "text": "one two"}]
    assert closing(found)["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert closing(found)["usage"] == {"input_tokens": 9, "output_tokens": 4}


@pytest.mark.bug("H-05")
def test_a_message_begins_with_an_estimate_and_ends_with_what_was_counted() -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 800}}

    found = streamed(MESSAGES, ROLE, text("x"), STOP, chat.usage_chunk(usage), chat.DONE)

    assert isinstance(found[0], dict)
    assert found[0]["message"]["usage"] == {"input_tokens": EXPECTED_INPUT_TOKENS, "output_tokens": 0}
    assert closing(found)["usage"] == {"input_tokens": 100, "cache_read_input_tokens": 800, "output_tokens": 50}


@pytest.mark.bug("E-07")
@pytest.mark.parametrize("choices", [{"choices": []}, {}, {"choices": None}])
def test_usage_without_a_choice_is_read(choices: dict[str, Any]) -> None:
    last = {"id": "1", **choices, "usage": {"prompt_tokens": 9, "completion_tokens": 4}}

    found = streamed(MESSAGES, ROLE, text("x"), STOP, last, chat.DONE)

    assert closing(found)["usage"] == {"input_tokens": 9, "output_tokens": 4}


@pytest.mark.bug("E-02")
def test_usage_within_the_last_piece_of_text_costs_no_text() -> None:
    glued = {**text("end"), "usage": {"prompt_tokens": 9, "completion_tokens": 4}}

    found = streamed(MESSAGES, ROLE, glued, STOP, chat.DONE)

    assert (blocks(found)[0]["text"], closing(found)["usage"]["output_tokens"]) == ("end", 4)


def test_a_filters_word_about_the_prompt_does_not_begin_the_message() -> None:
    found = streamed(MESSAGES, {"id": "", "choices": [], "prompt_filter_results": []}, ROLE, text("x"))

    assert isinstance(found[0], dict)
    assert (types(found)[0], found[0]["message"]["id"]) == ("message_start", chat.DEFAULT_ID)


@pytest.mark.bug("G-10")
def test_reasoning_text_and_calls_are_blocks_of_their_own() -> None:
    thought, tool = chat.chunk(chat.reasoning_delta("hm")), chat.tool_call_deltas([ToolCall("f", '{"a": 1}')])

    found = streamed(MESSAGES, ROLE, thought, text("so"), *map(chat.chunk, tool), CALLED, chat.DONE)

    assert blocks(found) == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1}},
    ]


# --- calls


@pytest.mark.bug("G-01", "G-02")
def test_calls_in_one_delta_without_an_index_are_two() -> None:
    both = [{"id": id_, "function": {"name": id_, "arguments": f'{{"n": "{id_}"}}'}} for id_ in ("a", "b")]

    assert calls(chat.chunk({"tool_calls": both})) == [("a", "a", {"n": "a"}), ("b", "b", {"n": "b"})]


@pytest.mark.bug("G-02")
@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_calls_with_one_index_or_none_are_told_apart_by_their_ids(index: dict[str, int]) -> None:
    found = calls(
        piece("", id="a", name="f", **index), piece('{"n"', **index), piece(": 1}", **index),
        piece("", id="b", name="g", **index), piece('{"m": 2}', **index),
    )  # fmt: skip

    assert found == [("a", "f", {"n": 1}), ("b", "g", {"m": 2})]


@pytest.mark.bug("G-02")
def test_calls_without_ids_are_told_apart_by_their_names() -> None:
    found = calls(piece('{"n": 1}', name="f"), piece('{"n": 2}', name="f"))

    assert found == [("call_chatcmpl-fake_0", "f", {"n": 1}), ("call_chatcmpl-fake_1", "f", {"n": 2})]


@pytest.mark.bug("G-02")
def test_an_id_and_a_name_that_come_with_every_piece_open_one_call() -> None:
    found = calls(piece('{"n"', index=0, id="a", name="f"), piece(": 1}", index=0, id="a", name="f"))

    assert found == [("a", "f", {"n": 1})]


@pytest.mark.bug("G-02")
def test_a_piece_of_an_index_that_nobody_opened_goes_on_with_the_last_call() -> None:
    assert calls(piece('{"n"', index=0, id="a", name="f"), piece(": 1}", index=1)) == [("a", "f", {"n": 1})]


@pytest.mark.bug("G-02")
def test_a_piece_that_opens_nothing_and_follows_nothing_still_is_a_call() -> None:
    found = streamed(MESSAGES, ROLE, piece("{}", index=0), CALLED, chat.DONE)

    assert [block["name"] for block in blocks(found)] == [""]


@pytest.mark.bug("G-03")
def test_a_brace_that_ends_a_text_within_the_arguments_does_not_end_them() -> None:
    found = calls(
        piece('{"x": "}', index=0, id="a", name="f"), piece('{"y": 2}', index=1, id="b", name="g"),
        piece('"}', index=0),
    )  # fmt: skip

    assert found == [("a", "f", {"x": "}"}), ("b", "g", {"y": 2})]


@pytest.mark.bug("G-03")
def test_interleaved_arguments_arrive_in_blocks_one_after_the_other() -> None:
    found = calls(
        piece("", index=0, id="a", name="f"), piece("", index=1, id="b", name="g"),
        piece('{"x"', index=0), piece('{"y": 2}', index=1), piece(": 1}", index=0),
    )  # fmt: skip

    assert found == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


@pytest.mark.bug("G-03")
def test_a_call_goes_on_its_way_as_soon_as_those_before_it_are_complete() -> None:
    found = streamed(
        MESSAGES, ROLE, piece('{"x": 1}', index=0, id="a", name="f"), piece("", index=1, id="b", name="g"),
        piece('{"y"', index=1),
    )  # fmt: skip

    assert types(found)[-3:] == ["content_block_stop", "content_block_start", "content_block_delta"]


def test_what_waits_has_a_limit() -> None:
    half = "x" * (MAX_HELD_CHARS // 2)
    begun = (piece("", index=0, id="a", name="f"), piece("", index=1, id="b", name="g"))

    with pytest.raises(EventTooLargeError):
        streamed(MESSAGES, ROLE, *begun, *(piece(half, index=1) for _ in range(3)))


@pytest.mark.bug("G-05")
def test_whole_arguments_in_one_piece_come_after_an_empty_beginning() -> None:
    found = streamed(MESSAGES, ROLE, piece('{"x": 1}', index=0, id="a", name="f"), CALLED, chat.DONE)

    start, delta = found[1:3]
    assert isinstance(start, dict)
    assert isinstance(delta, dict)
    assert start["content_block"] == {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    assert delta["delta"] == {"type": "input_json_delta", "partial_json": '{"x": 1}'}


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_a_call_without_arguments_has_an_empty_object(arguments: str) -> None:
    found = calls(piece(arguments, index=0, id="a", name="f"), piece('{"y": 2}', index=1, id="b", name="g"))

    assert found == [("a", "f", {}), ("b", "g", {"y": 2})]


@pytest.mark.bug("G-06")
def test_empty_texts_between_arguments_are_nothing() -> None:
    found = streamed(
        MESSAGES, ROLE, piece('{"x"', index=0, id="a", name="f"), text(""), piece(": 1}", index=0), CALLED, chat.DONE
    )

    assert [block["type"] for block in blocks(found)] == ["tool_use"]


# --- the end


@pytest.mark.bug("G-04")
@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", "tool_use"),
        ("tool_calls", "tool_use"),
        ("length", "max_tokens"),
        ("what_comes_next", "what_comes_next"),
    ],
)
def test_why_it_ended(finish: str, expected: str) -> None:
    found = streamed(MESSAGES, piece("{}", id="a", name="f"), chat.chunk({}, finish_reason=finish), chat.DONE)

    assert closing(found)["delta"]["stop_reason"] == expected


def test_a_refusal_is_text_and_the_reason() -> None:
    found = streamed(MESSAGES, ROLE, chat.chunk({"refusal": "I will not."}), STOP, chat.DONE)

    assert (blocks(found)[0]["text"], closing(found)["delta"]["stop_reason"]) == ("I will not.", "refusal")


@pytest.mark.bug("E-12")
def test_an_end_that_was_given_no_reason_is_given_none() -> None:
    found = streamed(MESSAGES, ROLE, text("x"), chat.DONE)

    assert closing(found)["delta"]["stop_reason"] is None
    assert closing(found)["usage"] == {"input_tokens": None, "output_tokens": None}


@pytest.mark.bug("E-05")
@pytest.mark.parametrize(
    "failed",
    [
        {"error": {"message": "busy", "type": "server_error", "code": 502}},
        {"choices": [{"index": 0, "delta": {}, "error": {"message": "busy", "type": "server_error", "code": 502}}]},
    ],
)
def test_an_error_keeps_its_words_and_its_code(failed: dict[str, Any]) -> None:
    last = streamed(MESSAGES, ROLE, text("x"), failed)[-1]

    assert isinstance(last, dict)
    error = {"message": "busy", "type": "server_error", "code": "502", "param": None}
    assert last == {"type": "error", "error": error}


@pytest.mark.bug("E-05")
def test_a_finish_that_is_an_error_is_one() -> None:
    last = streamed(MESSAGES, ROLE, text("x"), chat.chunk({}, finish_reason="error"))[-1]

    assert isinstance(last, dict)
    assert last["type"] == "error"


@pytest.mark.bug("E-16")
@pytest.mark.parametrize("broken", [b'data: {"choices":[{"delta":{"con\n\n', b'data: {"choices": 7}\n\n'])
def test_what_cannot_be_read_is_malformed_in_the_other_dialect_too(broken: bytes) -> None:
    assert streamed(MESSAGES, ROLE, text("x"), broken)[-1] == "{"


def test_an_event_without_data_says_nothing() -> None:
    assert len(streamed(MESSAGES, ROLE, b"data:\n\n", b"id: 7\n\n", b"data: {}\n\n")) == 1
