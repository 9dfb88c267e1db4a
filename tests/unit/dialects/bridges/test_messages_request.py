"""Messages to Chat Completions: what callers of Anthropic's API ask for, in OpenAI's words."""

from typing import Any

import pytest

from pointsman.dialects.bridges.neutral import Lost
from tests.unit.dialects.bridges.carried import MESSAGES, lost, sent

USER = {"role": "user", "content": "hi"}
CACHED = {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object"}}
JPEG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "/9j/4AAQ"}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQ"}}


def messages(*said: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sent(MESSAGES, messages=list(said))["messages"]
    return found


def result(id_: str = "t1", content: object = "r", **fields: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **fields}


def text(said: str, **fields: object) -> dict[str, Any]:
    return {"type": "text", "text": said, **fields}


@pytest.mark.bug("G-07")
def test_results_of_tools_come_first_and_pictures_are_kept() -> None:
    pictured = result("t2", [text("see"), JPEG])

    found = messages({"role": "user", "content": [text("look"), result("t1"), JPEG, pictured]})

    assert found == [
        {"role": "tool", "tool_call_id": "t1", "content": "r"},
        {"role": "tool", "tool_call_id": "t2", "content": "see"},
        {"role": "user", "content": [PICTURE, text("look"), PICTURE]},
    ]


@pytest.mark.bug("G-07", "G-15")
def test_a_result_that_is_one_picture_is_told_and_shown() -> None:
    found = messages({"role": "user", "content": [result(content=[JPEG])]})

    assert found == [
        {"role": "tool", "tool_call_id": "t1", "content": "The image is in the next message."},
        {"role": "user", "content": [PICTURE]},
    ]


@pytest.mark.bug("G-13")
@pytest.mark.parametrize("content", ["", [], [text("")]])
def test_a_tool_that_gave_back_nothing_says_nothing(content: object) -> None:
    (found,) = messages({"role": "user", "content": [result(content=content)]})

    assert found["content"] == ""


@pytest.mark.parametrize(
    ("content", "expected"), [("no such file", "Error: no such file"), ("Error 7", "Error 7"), ([], "Error: ")]
)
def test_a_failed_tool_is_told_in_words(content: object, expected: str) -> None:
    (found,) = messages({"role": "user", "content": [result(content=content, is_error=True)]})

    assert found["content"] == expected


@pytest.mark.bug("G-10", "G-18")
def test_all_texts_of_an_answer_are_kept_and_no_thoughts_are_shown() -> None:
    thoughts = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}]
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}

    found = messages(USER, {"role": "assistant", "content": [*thoughts, text("one "), call, text("two")]})

    function = {"name": "f", "arguments": '{"a": 1}'}
    assert found[1] == {
        "role": "assistant",
        "content": "one two",
        "tool_calls": [{"id": "t1", "type": "function", "function": function}],
    }


@pytest.mark.bug("G-12")
def test_marks_for_caches_are_left_out_everywhere() -> None:
    found = sent(
        MESSAGES,
        system=[text("s", cache_control=CACHED)],
        messages=[{"role": "user", "content": [result(cache_control=CACHED), text("hi", cache_control=CACHED)]}],
        tools=[{**TOOL, "cache_control": CACHED}],
        cache_control=CACHED,
    )

    assert "cache_control" not in str(found)
    assert lost(MESSAGES, cache_control=CACHED) == Lost()


def test_a_line_of_claude_codes_that_differs_each_time_is_left_out_of_the_prompt() -> None:
    billing = text("x-anthropic-billing-header: cc_version=2.1; cch=abc;")

    found = sent(MESSAGES, system=[billing, text("You are")], messages=[USER])

    assert found["messages"][0] == {"role": "system", "content": "You are"}


@pytest.mark.bug("G-16")
def test_system_prompts_stay_where_they_are() -> None:
    found = sent(MESSAGES, system="first", messages=[USER, {"role": "system", "content": "a note"}])

    assert [(turn["role"], turn["content"]) for turn in found["messages"]] == [
        ("system", "first"), ("user", "hi"), ("system", "a note"),
    ]  # fmt: skip


def test_documents_go_along() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    plain = {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "words"}}
    linked = {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}}

    (found,) = messages({"role": "user", "content": [pdf, plain, linked]})

    file = {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AAAA"}
    assert found["content"] == [
        {"type": "file", "file": file},
        text("t\nwords"),
        {"type": "image_url", "image_url": {"url": "https://host/a.png"}},
    ]


@pytest.mark.bug("G-14")
def test_a_tool_without_a_type_is_the_callers_own() -> None:
    found = sent(MESSAGES, messages=[USER], tools=[TOOL, {**TOOL, "type": "custom", "strict": True}])

    function = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    assert [tool["function"] for tool in found["tools"]] == [function, {**function, "strict": True}]


@pytest.mark.bug("G-14")
def test_a_tool_that_the_provider_brings_along_is_for_those_who_speak_the_dialect() -> None:
    found = lost(MESSAGES, tools=[{"type": "web_search_20250305", "name": "web_search"}])

    assert found == Lost(content=("tools.web_search_20250305",))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        ({"type": "tool", "name": "f"}, {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
        (
            {"type": "auto", "disable_parallel_tool_use": True},
            {"tool_choice": "auto", "parallel_tool_calls": False},
        ),
    ],
)
def test_the_choice_of_a_tool(choice: dict[str, Any], expected: dict[str, Any]) -> None:
    found = sent(MESSAGES, messages=[USER], tools=[TOOL], tool_choice=choice)

    assert {name: value for name, value in found.items() if "tool_c" in name} == expected


def test_an_answer_that_only_called_has_no_text() -> None:
    found = messages(
        USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}
    )

    assert found[1]["content"] is None


@pytest.mark.bug("E-08")
def test_a_stream_is_asked_for_with_its_usage() -> None:
    found = sent(MESSAGES, messages=[USER], stream=True)

    assert (found["stream"], found["stream_options"]) == (True, {"include_usage": True})
    assert sent(MESSAGES, messages=[USER]).keys() == {"model", "messages"}


def test_numbers_and_stops_go_along() -> None:
    found = sent(MESSAGES, messages=[USER], max_tokens=9, temperature=0.5, top_p=0.9, stop_sequences=["END"])

    assert (found["max_completion_tokens"], found["temperature"], found["top_p"]) == (9, 0.5, 0.9)
    assert found["stop"] == ["END"]


@pytest.mark.parametrize("field", [{"output_config": {"format": "F"}}, {"output_format": "F"}])
def test_a_structure_goes_along_by_its_schema(field: dict[str, Any]) -> None:
    wanted = {"type": "json_schema", "schema": {"type": "object"}}
    fields = {"output_config": {"format": wanted}} if "output_config" in field else {"output_format": wanted}

    found = sent(MESSAGES, messages=[USER], **fields)

    schema = {"name": "answer", "schema": {"type": "object"}, "strict": True}
    assert found["response_format"] == {"type": "json_schema", "json_schema": schema}


@pytest.mark.parametrize(
    ("fields", "effort"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 2_000}}, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10_000}}, "medium"),
        ({"thinking": {"type": "enabled", "budget_tokens": 31_999}}, "high"),
        ({"thinking": {"type": "adaptive"}}, "high"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, "low"),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, "xhigh"),
    ],
)
def test_thinking_is_an_effort(fields: dict[str, Any], effort: str | None) -> None:
    assert sent(MESSAGES, messages=[USER], **fields).get("reasoning_effort") == effort


@pytest.mark.parametrize(
    "fields",
    [{"metadata": {"user_id": "u"}, "service_tier": "auto", "context_management": {"edits": []}}, {"top_k": None}],
)
def test_what_says_nothing_or_is_a_hint_is_no_loss(fields: dict[str, Any]) -> None:
    assert lost(MESSAGES, **fields) == Lost()


@pytest.mark.parametrize(
    ("fields", "name"), [({"top_k": 5}, "top_k"), ({"mcp_servers": [{}]}, "mcp_servers"), ({"speed": "fast"}, "speed")]
)
def test_parameters_without_a_place_are_named(fields: dict[str, Any], name: str) -> None:
    assert lost(MESSAGES, **fields) == Lost((name,))


def block(**fields: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [fields]}]}


CITED = {"type": "text", "media_type": "text/plain", "data": "x"}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (block(type="document", source={"type": "url", "url": "https://host/a.pdf"}), "messages.document"),
        (block(type="document", source=CITED, citations={"enabled": True}), "messages.document"),
        (block(type="image", source={"type": "file", "file_id": "f"}), "messages.image"),
        (block(type="server_tool_use", id="s"), "messages.server_tool_use"),
        (block(**result(content=[{"type": "search_result"}])), "messages.tool_result.search_result"),
        ({"messages": [{"role": "critic", "content": "r"}]}, "messages.role=critic"),
        ({"messages": [{"role": "user"}]}, "messages"),
        (block(type="tool_use", id="t", name="f", input={}), "messages.user.call"),
        ({"messages": [{"role": "assistant", "content": [result()]}]}, "messages.assistant.result"),
        ({"system": [JPEG], "messages": []}, "messages.system.image"),
    ],
)
def test_content_without_a_place_is_named(fields: dict[str, Any], name: str) -> None:
    assert lost(MESSAGES, **fields) == Lost(content=(name,))
