"""Whole answers of Responses, on their way from and to other dialects."""

from typing import Any

import pytest
from msgspec import Raw

from pointsman.dialects.bridges.bridge import Surroundings
from tests.unit.dialects.bridges.carried import CHAT, CREATED_S, MESSAGES, RESPONSES, answered

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def response(finish: str | None = "stop", usage: object = None, around: Surroundings | None = None, **said: Any) -> Any:
    """What a caller of Responses gets of an answer of Chat."""
    choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish}
    answer = {"id": "chatcmpl-1", "model": "m", "choices": [choice], "usage": usage}
    return answered(RESPONSES, answer, around=around) if around else answered(RESPONSES, answer)


def choice(*items: dict[str, Any], status: str = "completed", reason: str | None = None, **fields: Any) -> Any:
    """What a caller of Chat gets of an answer of Responses."""
    details = None if reason is None else {"reason": reason}
    answer = {"id": "resp_1", "model": "m", "status": status, "output": items, "incomplete_details": details, **fields}
    return answered(CHAT, answer, spoken=RESPONSES)["choices"][0]


# --- to Responses


def test_an_answer_has_the_shape_of_a_response() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}

    found = response(content="hello", usage=usage)

    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": "hello"}
    item = {"id": "msg_chatcmpl-1_0", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    assert found == {
        "id": "chatcmpl-1", "object": "response", "created_at": CREATED_S, "model": "m", "status": "completed",
        "background": False, "error": None, "incomplete_details": None, "instructions": None, "output": [item],
        "previous_response_id": None, "store": False, "tools": [], "max_output_tokens": None, "metadata": {},
        "parallel_tool_calls": True, "reasoning": None, "temperature": None, "tool_choice": "auto", "top_p": None,
        "usage": {
            "input_tokens": 9, "input_tokens_details": {"cached_tokens": 6}, "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 13,
        },
    }  # fmt: skip


def test_what_was_asked_for_is_repeated() -> None:
    around = Surroundings(CREATED_S, 7, {"temperature": Raw(b"0.5"), "metadata": Raw(b'{"k":"v"}')})

    found = response(content="x", around=around)

    assert (found["temperature"], found["metadata"], found["top_p"]) == (0.5, {"k": "v"}, None)


def test_thoughts_text_and_calls_are_items_in_their_order() -> None:
    found = response("tool_calls", reasoning_content="hm", content="so", tool_calls=[CALL])["output"]

    assert [item["type"] for item in found] == ["reasoning", "message", "function_call"]
    assert found[0]["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert (found[2]["call_id"], found[2]["name"], found[2]["arguments"]) == ("c1", "f", '{"a": 1}')
    assert len({item["id"] for item in found}) == 3


@pytest.mark.bug("G-18")
def test_texts_that_follow_each_other_are_one_message() -> None:
    content = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    answer = {"id": "msg_1", "model": "m", "content": content, "stop_reason": "end_turn"}

    (found,) = answered(RESPONSES, answer, spoken=MESSAGES)["output"]

    assert found["content"][0]["text"] == "one two"


def test_a_call_of_a_tool_that_takes_a_text_is_one_of_those() -> None:
    around = Surroundings(CREATED_S, 7, {"tools": Raw(b'[{"type":"custom","name":"f"}]')})
    call = {**CALL, "function": {"name": "f", "arguments": '{"input": "a\\nb"}'}}

    (found,) = response("tool_calls", around=around, tool_calls=[call])["output"]

    assert (found["type"], found["call_id"], found["name"], found["input"]) == ("custom_tool_call", "c1", "f", "a\nb")


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        (None, "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("content_filter", "incomplete", "content_filter"),
        ("what_comes_next", "incomplete", "what_comes_next"),
    ],
)
def test_why_it_ended_is_its_status(finish: str | None, status: str, reason: str | None) -> None:
    found = response(finish, content="x")

    assert (found["status"], found["incomplete_details"]) == (status, reason and {"reason": reason})


def test_a_refusal_is_a_complete_answer() -> None:
    found = response(refusal="no")

    assert (found["status"], found["output"][0]["content"]) == ("completed", [{"type": "refusal", "refusal": "no"}])


@pytest.mark.bug("G-17")
@pytest.mark.parametrize("usage", [None, {"completion_tokens": 4}])
def test_without_both_counts_there_is_no_usage(usage: object) -> None:
    assert response(content="x", usage=usage)["usage"] is None


@pytest.mark.bug("H-01", "H-02", "H-04")
def test_tokens_are_counted_once() -> None:
    usage = {
        "input_tokens": 5, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 35, "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 12},
    }  # fmt: skip
    answer = {"id": "msg_1", "model": "m", "content": [], "stop_reason": "end_turn", "usage": usage}

    found = answered(RESPONSES, answer, spoken=MESSAGES)["usage"]

    assert found == {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 35},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 120,
    }  # fmt: skip


# --- from Responses


def text(said: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": said}]}


def test_all_items_are_carried() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": None}

    found = choice({"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}]}, text("one "), text("two"), call)

    assert found["message"]["reasoning_content"] == "a\n\nb"
    assert found["message"]["content"] == "one two"
    assert found["message"]["tool_calls"][0] == {
        "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"},
    }  # fmt: skip


@pytest.mark.bug("G-04")
def test_a_complete_answer_with_a_call_ends_for_it() -> None:
    assert choice({"type": "function_call", "call_id": "c", "name": "f"})["finish_reason"] == "tool_calls"


def test_thoughts_in_full_count_more_than_their_summary() -> None:
    item = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "all"}], "summary": [{"text": "some"}]}

    assert choice(item)["message"]["reasoning_content"] == "all"
    assert "reasoning_content" not in choice({"type": "reasoning", "summary": []})["message"]


@pytest.mark.parametrize(
    ("fields", "finish"),
    [
        ({}, "stop"),
        ({"status": "incomplete", "reason": "max_output_tokens"}, "length"),
        ({"status": "incomplete", "reason": "content_filter"}, "content_filter"),
        ({"status": "incomplete", "reason": "what_comes_next"}, "what_comes_next"),
    ],
)
def test_its_status_is_why_it_ended(fields: dict[str, Any], finish: str) -> None:
    assert choice(text("x"), **fields)["finish_reason"] == finish


def test_a_refusal_is_one_in_every_dialect() -> None:
    found = choice({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]})

    assert (found["message"]["refusal"], found["finish_reason"]) == ("no", "content_filter")


def test_what_only_a_tool_of_the_provider_says_is_left_out() -> None:
    assert choice({"type": "web_search_call"}, text("x"))["message"]["content"] == "x"
