"""Requests of Responses: what becomes of them in other dialects, and what others become in it."""

from typing import Any

import pytest

from pointsman.dialects.bridges.neutral import Lost
from tests.unit.dialects.bridges.carried import CHAT, MESSAGES, RESPONSES, lost, sent

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "rain"}
PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,AA=="


def messages(*items: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    """What a Chat target gets to read."""
    found: list[dict[str, Any]] = sent(RESPONSES, input=list(items), **fields)["messages"]
    return found


def written(asked: Any, **fields: Any) -> dict[str, Any]:
    """What a request of another dialect becomes in Responses."""
    return sent(asked, spoken=RESPONSES, **fields)


def chat(*said: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return written(CHAT, messages=list(said), **fields)


# --- reading


def test_a_text_is_what_the_user_says() -> None:
    assert sent(RESPONSES, input="hi")["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.bug("G-16")
def test_instructions_come_first_and_later_words_of_the_developer_stay_where_they_are() -> None:
    found = messages(
        {"role": "user", "content": "hi"}, {"role": "developer", "content": "note"}, instructions="Be brief."
    )

    assert [(each["role"], each["content"]) for each in found] == [
        ("system", "Be brief."), ("user", "hi"), ("system", "note"),
    ]  # fmt: skip


@pytest.mark.bug("G-07", "G-08")
def test_calls_and_their_results_are_turns_of_their_own() -> None:
    other = {**CALL, "call_id": "c2", "name": "g"}

    found = messages(
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "Let me see."}, CALL, other, RESULT,
        {**RESULT, "call_id": "c2"}, {"role": "user", "content": "and now?"},
    )  # fmt: skip

    assert [each["role"] for each in found] == ["user", "assistant", "tool", "tool", "user"]
    assert [call["id"] for call in found[1]["tool_calls"]] == ["c1", "c2"]
    assert found[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert found[2] == {"role": "tool", "tool_call_id": "c1", "content": "rain"}


def test_a_call_that_came_without_arguments_has_none() -> None:
    (found,) = messages({**CALL, "arguments": None})

    assert found["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.bug("G-13")
def test_a_tool_that_gave_back_nothing_says_nothing() -> None:
    assert messages(CALL, {**RESULT, "output": ""})[1]["content"] == ""


@pytest.mark.bug("G-07", "G-15")
def test_pictures_that_a_tool_gave_back_follow_its_text() -> None:
    output = [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": PNG}]

    found = messages(CALL, {**RESULT, "output": output})

    assert found[1]["content"] == "look"
    assert found[2]["content"][0]["image_url"] == {"url": PNG}


def test_custom_calls_and_their_results_are_those_of_functions() -> None:
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "p", "input": "a\nb"}

    found = messages(call, {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"})

    assert found[0]["tool_calls"][0]["function"] == {"name": "p", "arguments": '{"input":"a\\nb"}'}
    assert found[1]["content"] == "done"


@pytest.mark.bug("G-10")
def test_sealed_thoughts_are_left_out() -> None:
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}

    assert messages({"role": "user", "content": "hi"}, sealed) == [{"role": "user", "content": "hi"}]
    assert lost(RESPONSES, input=[sealed]) == Lost()


def test_all_parts_of_a_message_are_carried() -> None:
    parts = [
        {"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": PNG},
        {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
    ]  # fmt: skip

    (found,) = messages({"role": "user", "content": parts})

    assert found["content"] == [
        {"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
    ]  # fmt: skip


@pytest.mark.bug("G-18")
def test_what_the_model_said_and_refused_is_one_text() -> None:
    parts = [{"type": "output_text", "text": "one "}, {"type": "refusal", "refusal": "no"}]

    assert messages({"role": "assistant", "content": parts})[0]["content"] == "one no"


def test_parameters_have_their_places() -> None:
    found = sent(
        RESPONSES, input="hi", max_output_tokens=9, temperature=0.5, top_p=0.9, parallel_tool_calls=False,
        reasoning={"effort": "high", "summary": "auto"}, tools=[{"type": "function", "name": "f", "strict": True}],
        tool_choice="required", stream=True,
        text={"format": {"type": "json_schema", "name": "s", "schema": {"b": 1, "a": 2}}, "verbosity": "low"},
    )  # fmt: skip

    del found["messages"]
    assert found == {
        "model": "m", "stream": True, "stream_options": {"include_usage": True}, "max_completion_tokens": 9,
        "temperature": 0.5, "top_p": 0.9, "parallel_tool_calls": False, "reasoning_effort": "high",
        "tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "strict": True}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"b": 1, "a": 2}}},
        "verbosity": "low",
    }  # fmt: skip


@pytest.mark.parametrize("type_", ["function", "custom"])
def test_a_tool_that_has_to_be_called_is_named(type_: str) -> None:
    found = sent(RESPONSES, input="hi", tools=[{"type": type_, "name": "f"}], tool_choice={"type": type_, "name": "f"})

    assert found["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert found["tools"][0]["function"]["name"] == "f"


@pytest.mark.parametrize("reasoning", [None, {"effort": "none"}, {"effort": "minimal"}, {"summary": "auto"}])
def test_without_effort_no_reasoning_is_asked_for(reasoning: object) -> None:
    assert "reasoning_effort" not in sent(RESPONSES, input="hi", reasoning=reasoning)


def test_any_object_may_be_wanted_and_plain_text_is_no_structure() -> None:
    whole = sent(RESPONSES, input="hi", text={"format": {"type": "json_object"}})
    plain = sent(RESPONSES, input="hi", text={"format": {"type": "text"}})

    assert whole["response_format"] == {"type": "json_object"}
    assert "response_format" not in plain


def test_what_an_answer_does_not_depend_on_is_left_out_without_a_word() -> None:
    hints = {
        "store": True, "metadata": {"a": "b"}, "client_metadata": {"c": 1}, "prompt_cache_key": "k", "user": "u",
        "service_tier": "auto", "stream_options": {"include_obfuscation": False}, "max_tool_calls": 3,
        "include": ["reasoning.encrypted_content"], "background": False, "truncation": "disabled", "top_logprobs": 0,
        "safety_identifier": "s", "prompt_cache_retention": "24h", "previous_response_id": None, "conversation": None,
    }  # fmt: skip

    assert lost(RESPONSES, **hints) == Lost()
    assert sent(RESPONSES, input="hi", **hints) == sent(RESPONSES, input="hi")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"background": True}, "background"),
        ({"truncation": "auto"}, "truncation"),
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"what_comes_next": 1}, "what_comes_next"),
    ],
)
def test_parameters_without_a_place_are_named(fields: dict[str, Any], named: str) -> None:
    assert lost(RESPONSES, **fields) == Lost((named,))


@pytest.mark.bug("D-03")
@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": {"id": "conv_1"}}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input.item_reference"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "input.compaction"),
        ({"input": [{"role": "critic", "content": "x"}]}, "input.role=critic"),
        ({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "input.input_audio"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}, "input.input_image"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input.input_file"),
        ({"tools": [{"type": "web_search"}]}, "tools.web_search"),
        ({"tool_choice": {"type": "allowed_tools", "tools": []}}, "tool_choice.allowed_tools"),
        ({"tool_choice": "whatever"}, "tool_choice=whatever"),
        ({"input": 7}, "input"),
    ],
)
def test_parts_of_the_conversation_without_a_place_are_named(fields: dict[str, Any], named: str) -> None:
    assert lost(RESPONSES, **fields) == Lost(content=(named,))


def test_messages_have_no_place_for_how_long_an_answer_may_get() -> None:
    assert lost(RESPONSES, spoken=MESSAGES, text={"verbosity": "low"}) == Lost(("verbosity",))
    assert lost(RESPONSES, spoken=MESSAGES, text={"verbosity": "medium"}) == Lost()


# --- writing


def test_nothing_has_to_be_kept_of_a_request() -> None:
    found = chat({"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}, stream=True)

    assert found == {
        "model": "m",
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "store": False,
        "stream": True,
    }


def test_words_of_the_model_and_its_calls_keep_their_order() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}

    found = chat({"role": "assistant", "content": "so", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1"})

    assert found["input"] == [
        {"role": "assistant", "content": "so"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": ""},
    ]


def test_pictures_and_files_keep_their_bytes() -> None:
    parts = [
        {"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
    ]  # fmt: skip

    (found,) = chat({"role": "user", "content": parts})["input"]

    assert found["content"] == [
        {"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": PNG},
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
    ]  # fmt: skip


def test_what_a_tool_gave_back_keeps_its_pictures_and_its_mark_of_an_error() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    shown = {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
             "content": [{"type": "text", "text": "no"}, {"type": "image", "source": source}]}  # fmt: skip
    told = {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "no"}

    found = written(MESSAGES, messages=[{"role": "user", "content": [shown, told]}], max_tokens=9)["input"]

    assert [item["output"] for item in found] == [
        [{"type": "input_text", "text": "Error: no"}, {"type": "input_image", "image_url": PNG}], "Error: no",
    ]  # fmt: skip


def test_a_tool_is_strict_only_where_that_was_asked_for() -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"b": 1}, "strict": True}},
        {"type": "function", "function": {"name": "g"}},
    ]

    found = chat(tools=tools, tool_choice={"type": "function", "function": {"name": "f"}}, parallel_tool_calls=False)

    assert found["tools"] == [
        {"type": "function", "name": "f", "description": "d", "parameters": {"b": 1}, "strict": True},
        {"type": "function", "name": "g", "parameters": {"type": "object", "properties": {}}, "strict": False},
    ]
    assert (found["tool_choice"], found["parallel_tool_calls"]) == ({"type": "function", "name": "f"}, False)


def test_what_a_chat_asks_for_has_its_place() -> None:
    schema = {"name": "s", "schema": {"z": 1, "a": 2}, "strict": True}
    found = chat(
        response_format={"type": "json_schema", "json_schema": schema}, reasoning_effort="low", verbosity="high",
        tool_choice="none", max_tokens=9, temperature=2, top_p=0.5,
    )  # fmt: skip
    plain = chat(response_format={"type": "json_object"})
    loose = chat(response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": {}}})

    assert found == {
        "model": "m", "input": [], "store": False, "tool_choice": "none", "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", **schema}, "verbosity": "high"}, "max_output_tokens": 9,
        "temperature": 2.0, "top_p": 0.5,
    }  # fmt: skip
    assert plain["text"] == {"format": {"type": "json_object"}}
    assert "strict" not in loose["text"]["format"]


def test_what_responses_has_no_place_for_is_named() -> None:
    assert lost(CHAT, spoken=RESPONSES, stop=["x"]) == Lost(("stop",))
    assert lost(MESSAGES, spoken=RESPONSES, top_k=4, stop_sequences=["x"]) == Lost(("top_k", "stop"))
