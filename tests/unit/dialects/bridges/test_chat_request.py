"""Chat Completions to Messages: what callers of OpenAI's API ask for, in Anthropic's words."""

from typing import Any

import pytest

from pointsman.dialects.bridges.neutral import Lost
from tests.unit.dialects.bridges.carried import CHAT, lost, sent

USER = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
PNG = "iVBORw0KGgoAAAANSUhEUg"


def call(id_: str = "c1", name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def messages(*said: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sent(CHAT, messages=list(said))["messages"]
    return found


def test_leading_system_messages_become_the_system_prompt() -> None:
    found = sent(CHAT, messages=[{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, USER])

    assert found["system"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert found["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


@pytest.mark.bug("G-16")
def test_a_system_message_in_the_middle_stays_where_it_is() -> None:
    answer, note = {"role": "assistant", "content": "ok"}, {"role": "system", "content": "be brief"}

    found = sent(CHAT, messages=[USER, answer, note])

    assert "system" not in found
    assert found["messages"][2] == {"role": "user", "content": [{"type": "text", "text": "be brief"}]}


@pytest.mark.bug("G-08")
def test_results_of_parallel_calls_are_one_message_with_what_follows_them() -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2", "g"), call("c3", "f")]}
    results = [{"role": "tool", "tool_call_id": f"c{number}", "content": f"r{number}"} for number in (1, 2, 3)]

    found = messages(USER, asked, *results, {"role": "user", "content": "go on"})

    assert [turn["role"] for turn in found] == ["user", "assistant", "user"]
    assert [block["type"] for block in found[2]["content"]] == ["tool_result"] * 3 + ["text"]
    assert [block["tool_use_id"] for block in found[2]["content"][:3]] == ["c1", "c2", "c3"]


@pytest.mark.bug("G-13")
@pytest.mark.parametrize("content", ["", None, [{"type": "text", "text": ""}], "  \n"])
def test_no_empty_text_is_sent_and_the_call_beside_it_is(content: object) -> None:
    found = messages(USER, {"role": "assistant", "content": content, "tool_calls": [call()]})

    assert found[1]["content"] == [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]


@pytest.mark.bug("G-13")
def test_a_message_that_says_nothing_is_left_out_and_turns_still_alternate() -> None:
    found = messages(USER, {"role": "assistant", "content": ""}, {"role": "user", "content": "still there?"})

    assert [turn["role"] for turn in found] == ["user"]
    assert [block["text"] for block in found[0]["content"]] == ["hi", "still there?"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": {"b": [1, 2.5]}}', {"a": {"b": [1, 2.5]}}),
        ("", {}),
        ("[1]", {"arguments": "[1]"}),
        ('{"a": ', {"arguments": '{"a": '}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_had_said(arguments: str, expected: object) -> None:
    found = messages(USER, {"role": "assistant", "tool_calls": [call(arguments=arguments)]})

    assert found[1]["content"][0]["input"] == expected


def test_ids_of_calls_are_made_of_what_the_dialect_takes_and_still_match() -> None:
    asked = {"role": "assistant", "tool_calls": [call("functions.f:0")]}

    found = messages(USER, asked, {"role": "tool", "tool_call_id": "functions.f:0", "content": "r"})

    assert found[1]["content"][0]["id"] == found[2]["content"][0]["tool_use_id"] == "functions_f_0"


@pytest.mark.bug("G-15")
@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), ("/9j/4AAQ", "image/jpeg"), ("R0lGODlh", "image/gif"), ("UklGRh4A", "image/webp")],
)
def test_a_picture_is_what_its_bytes_say_it_is(data: str, media_type: str) -> None:
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}

    (block,) = messages({"role": "user", "content": [part]})[0]["content"]

    assert block == {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


@pytest.mark.bug("G-15")
@pytest.mark.parametrize("image_url", ["https://host/a.png", {"url": "https://host/a.png", "detail": "low"}])
def test_the_address_of_a_picture_stays_an_address(image_url: object) -> None:
    (block,) = messages({"role": "user", "content": [{"type": "image_url", "image_url": image_url}]})[0]["content"]

    assert block == {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}}


def test_a_document_goes_along() -> None:
    file = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}

    (block,) = messages({"role": "user", "content": [{"type": "file", "file": file}]})[0]["content"]

    source = {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}
    assert block == {"type": "document", "source": source, "title": "a.pdf"}


@pytest.mark.bug("G-10")
def test_earlier_thoughts_and_refusals_do_not_become_signed_ones() -> None:
    said = {"role": "assistant", "content": "a", "reasoning_content": "hm"}
    refused = {"role": "assistant", "content": None, "refusal": "no"}

    assert messages(USER, said)[1]["content"] == [{"type": "text", "text": "a"}]
    assert messages(USER, refused)[1]["content"] == [{"type": "text", "text": "no"}]


def test_tools_keep_their_schema_and_one_without_takes_nothing() -> None:
    bare = {"type": "function", "function": {"name": "g", "strict": True}}

    found = sent(CHAT, messages=[USER], tools=[TOOL, bare])

    assert found["tools"] == [
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
        {"name": "g", "input_schema": {"type": "object", "properties": {}}, "strict": True},
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": "required"}, {"type": "any"}),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"type": "tool", "name": "f"}),
        ({"parallel_tool_calls": True}, None),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        ({"tool_choice": "required", "parallel_tool_calls": False}, {"type": "any", "disable_parallel_tool_use": True}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"type": "none"}),
    ],
)
def test_the_choice_of_a_tool(fields: dict[str, Any], expected: object) -> None:
    assert sent(CHAT, messages=[USER], tools=[TOOL], **fields).get("tool_choice") == expected


def test_without_tools_there_is_no_choice_of_one() -> None:
    assert "tool_choice" not in sent(CHAT, messages=[USER], parallel_tool_calls=False, tool_choice="auto")


@pytest.mark.parametrize(
    ("fields", "most", "expected"),
    [
        ({"max_completion_tokens": 9, "max_tokens": 5}, None, 9),
        ({"max_tokens": 5}, 100, 5),
        ({}, 100, 100),
        ({}, None, 8_192),
    ],
)
def test_a_cap_is_always_sent(fields: dict[str, Any], most: int | None, expected: int) -> None:
    assert sent(CHAT, most=most, messages=[USER], **fields)["max_tokens"] == expected


def test_numbers_and_stops_go_along() -> None:
    found = sent(CHAT, messages=[USER], temperature=0.5, top_p=0.9, stop="END", stream=True)

    assert (found["temperature"], found["top_p"], found["stop_sequences"]) == (0.5, 0.9, ["END"])
    assert found["stream"] is True
    assert sent(CHAT, messages=[USER], stop=["a", "b"])["stop_sequences"] == ["a", "b"]


def test_a_refusal_in_parts_is_text() -> None:
    parts = [{"type": "refusal", "refusal": "no"}, {"type": "text", "text": "sorry"}]

    found = messages(USER, {"role": "assistant", "content": parts})

    assert [block["text"] for block in found[1]["content"]] == ["no", "sorry"]


def test_a_structure_goes_along_by_its_schema() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "city", "schema": {"type": "object"}, "strict": True}}

    found = sent(CHAT, messages=[USER], response_format=wanted)

    assert found["output_config"] == {"format": {"type": "json_schema", "schema": {"type": "object"}}}
    assert "output_config" not in sent(CHAT, messages=[USER], response_format={"type": "text"})


@pytest.mark.bug("G-09")
def test_reasoning_goes_on_in_a_tools_turn_as_it_needs_no_earlier_thoughts() -> None:
    asked = {"role": "assistant", "tool_calls": [call()]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "r"}

    found = sent(CHAT, messages=[USER, asked, result], tools=[TOOL], reasoning_effort="low")

    assert (found["thinking"], found["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})


@pytest.mark.parametrize(
    "fields", [{"reasoning_effort": "none"}, {"reasoning_effort": "high", "tool_choice": "required", "tools": [TOOL]}]
)
def test_nobody_thinks_who_is_not_asked_to_or_has_to_call_a_tool(fields: dict[str, Any]) -> None:
    assert "thinking" not in sent(CHAT, messages=[USER], **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 1, "logprobs": False, "frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {}, "seed": None},
        {"user": "u", "metadata": {"a": "b"}, "store": False, "service_tier": "auto", "prompt_cache_key": "k"},
        {"temperature": 1, "reasoning_effort": "high"},
    ],
)
def test_what_says_nothing_or_is_a_hint_is_no_loss(fields: dict[str, Any]) -> None:
    assert lost(CHAT, **fields) == Lost()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"seed": 7}, "seed"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"what_comes_next": 1}, "what_comes_next"),
        ({"temperature": 1.5}, "temperature"),
        ({"temperature": 0.5, "reasoning_effort": "high"}, "temperature"),
        ({"response_format": {"type": "json_object"}}, "response_format=json_object"),
    ],
)
def test_parameters_without_a_place_are_named(fields: dict[str, Any], name: str) -> None:
    assert lost(CHAT, **fields) == Lost((name,))


def test_parameters_without_a_place_are_not_sent_in_another_one() -> None:
    found = sent(CHAT, messages=[USER], temperature=1.5, seed=7, response_format={"type": "json_object"})

    assert found.keys() == {"model", "max_tokens", "messages"}


def part(**fields: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [fields]}]}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (part(type="input_audio", input_audio={}), "messages.input_audio"),
        (part(type="file", file={"file_id": "f"}), "messages.file"),
        (part(type="file", file={"file_data": "data:text/csv;base64,AAAA"}), "messages.file"),
        ({"messages": [{"role": "function", "name": "f", "content": "r"}]}, "messages.function_call"),
        ({"messages": [{"role": "critic", "content": "r"}]}, "messages.role=critic"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "custom"}]}]},
            "messages.tool_calls.custom",
        ),
        (
            {"messages": [{"role": "user", "content": "x", "tool_calls": [call()]}]},
            "messages.user.call",
        ),
        (part(type="input_text", text="x"), "messages.input_text"),
        ({"tools": [{"type": "custom", "custom": {}}]}, "tools.custom"),
        ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice.allowed_tools"),
        ({"tool_choice": "any"}, "tool_choice=any"),
        ({"messages": "hi"}, "messages"),
        ({"tools": {}}, "tools"),
    ],
)
def test_content_without_a_place_is_named(fields: dict[str, Any], name: str) -> None:
    assert lost(CHAT, **fields) == Lost(content=(name,))
