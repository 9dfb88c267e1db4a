"""Whole answers of Chat Completions targets, as callers of Messages get them."""

from typing import Any

import pytest

from tests.unit.dialects.bridges.carried import MESSAGES, answered


def completion(
    message: dict[str, Any], finish: str | None = "stop", usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "m", "choices": [choice], "usage": usage}


def call(id_: str | None = "c1", arguments: str | None = '{"a": 1}') -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}


def content(message: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answered(MESSAGES, completion(message))["content"]
    return found


def test_an_answer_has_the_shape_of_a_message() -> None:
    found = answered(MESSAGES, completion({"content": "hello"}, usage={"prompt_tokens": 9, "completion_tokens": 2}))

    assert found == {
        "id": "chatcmpl-1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }


@pytest.mark.bug("G-10")
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_a_block_of_its_own(name: str) -> None:
    found = content({name: "hm", "content": "hello"})

    assert found == [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "hello"}]


@pytest.mark.parametrize("arguments", ["", None, "{}"])
def test_a_call_without_arguments_has_an_empty_object(arguments: str | None) -> None:
    assert content({"tool_calls": [call(arguments=arguments)]})[0]["input"] == {}


def test_calls_without_ids_get_ids() -> None:
    found = content({"content": None, "tool_calls": [call(None), call(None)]})

    assert [block["id"] for block in found] == ["call_0", "call_1"]


@pytest.mark.bug("G-04")
@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("function_call", "tool_use"),
        ("what_comes_next", "what_comes_next"),
        (None, None),
    ],
)
def test_why_it_ended(finish: str | None, expected: str | None) -> None:
    assert answered(MESSAGES, completion({"content": "x"}, finish))["stop_reason"] == expected


@pytest.mark.bug("G-04")
@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", "tool_use"), ("tool_calls", "tool_use"), ("length", "max_tokens")]
)
def test_a_call_is_the_reason_whatever_the_engine_says(finish: str, expected: str) -> None:
    assert answered(MESSAGES, completion({"tool_calls": [call()]}, finish))["stop_reason"] == expected


def test_a_refusal_is_told_and_is_the_reason() -> None:
    found = answered(MESSAGES, completion({"content": None, "refusal": "I will not."}))

    assert (found["content"], found["stop_reason"]) == ([{"type": "text", "text": "I will not."}], "refusal")


@pytest.mark.bug("H-02", "H-04")
def test_cached_tokens_are_apart_from_other_input_and_reasoning_is_part_of_the_output() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 15},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }

    assert answered(MESSAGES, completion({"content": "x"}, usage=usage))["usage"] == {
        "input_tokens": 5,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 15,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 30},
    }


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": "many"}])
def test_tokens_that_nobody_counted_are_not_zero(usage: dict[str, Any] | None) -> None:
    found = answered(MESSAGES, completion({"content": "x"}, usage=usage))

    assert found["usage"] == {"input_tokens": None, "output_tokens": None}
