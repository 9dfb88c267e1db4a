"""Whole answers of Messages targets, as callers of Chat Completions get them."""

from typing import Any

import pytest

from tests.unit.dialects.bridges.carried import CHAT, CREATED_S, answered

CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}


def message(*content: dict[str, Any], stop: str | None = "end_turn", **usage: object) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "model": "m", "content": content, "stop_reason": stop, "usage": usage}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def said(*content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = answered(CHAT, message(*content))["choices"][0]["message"]
    return found


def test_an_answer_has_the_shape_of_a_completion() -> None:
    found = answered(CHAT, message(text("hello"), input_tokens=9, output_tokens=2))

    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "hello", "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
    }
    assert found == {
        "id": "msg_1",
        "object": "chat.completion",
        "created": CREATED_S,
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }


@pytest.mark.bug("G-18")
def test_all_blocks_of_text_are_joined_in_order() -> None:
    found = said(text("one "), CALL, text("two"))

    assert found["content"] == "one two"
    assert found["tool_calls"] == [
        {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    ]  # fmt: skip


@pytest.mark.bug("G-10")
def test_thoughts_are_apart_from_the_text_and_sealed_ones_are_left_out() -> None:
    found = said({"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking"}, text("hello"))

    assert (found["content"], found["reasoning_content"]) == ("hello", "hm")


def test_an_answer_that_only_calls_has_no_text() -> None:
    found = said({**CALL, "input": {}})

    assert (found["content"], found["tool_calls"][0]["function"]["arguments"]) == (None, "{}")


@pytest.mark.bug("G-04")
@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
        (None, None),
    ],
)
def test_why_it_ended(stop: str | None, expected: str | None) -> None:
    assert answered(CHAT, message(text("x"), stop=stop))["choices"][0]["finish_reason"] == expected


@pytest.mark.bug("G-04")
@pytest.mark.parametrize(
    ("stop", "expected"), [("end_turn", "tool_calls"), ("tool_use", "tool_calls"), ("max_tokens", "length")]
)
def test_a_call_is_the_reason_whatever_the_engine_says(stop: str, expected: str) -> None:
    assert answered(CHAT, message(CALL, stop=stop))["choices"][0]["finish_reason"] == expected


@pytest.mark.bug("G-17", "H-02", "H-04")
def test_the_prompt_has_all_tokens_and_what_is_not_known_is_not_there() -> None:
    counted = {"input_tokens": 5, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 15, "output_tokens": 50}

    found = answered(CHAT, message(text("x"), **counted, output_tokens_details={"thinking_tokens": 30}))

    assert found["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 15},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    assert answered(CHAT, message(text("x"), output_tokens=3))["usage"] == {"completion_tokens": 3}


def test_tokens_that_nobody_counted_are_not_there() -> None:
    assert "usage" not in answered(CHAT, {**message(text("x")), "usage": None})
