"""What a request needs of a target, in every dialect."""

import json
from typing import Any

import pytest

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.capability import Capability
from pointsman.domain.request import Dialect

TOOL = {"type": "function", "function": {"name": "f"}}


def needs(dialect: Dialect, fields: dict[str, Any]) -> list[str]:
    codec = DIALECTS[dialect]
    return list(codec.needs(codec.read_request(json.dumps({"model": "m", "messages": []} | fields).encode())))


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": list(parts)}]}


@pytest.mark.req("D-021", "D-022")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"tools": [TOOL]}, ["tools"]),
        ({"tools": []}, []),
        ({"functions": [{"name": "f"}]}, ["tools"]),
        ({"tool_choice": "auto"}, []),
        ({"tool_choice": None}, []),
        ({"tool_choice": "none"}, []),
        ({"tools": [TOOL], "tool_choice": "required"}, ["tools", "forced_tools"]),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, ["forced_tools"]),
        ({"parallel_tool_calls": True}, ["parallel_tools"]),
        ({"parallel_tool_calls": False}, []),
        ({"response_format": {"type": "json_schema"}}, ["structured_output"]),
        ({"response_format": {"type": "text"}}, []),
        (message({"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}), ["images"]),
        (message({"type": "input_audio", "input_audio": {}}), ["audio"]),
        (message({"type": "file", "file": {}}), ["files"]),
        (message({"type": "text", "text": '{"type": "image_url"}'}), []),
        ({"reasoning_effort": "medium"}, ["reasoning"]),
        ({"reasoning_effort": "none"}, []),
        ({"max_completion_tokens": 1}, ["honors_max_tokens"]),
        ({"max_tokens": 0}, []),
        ({"tool_choice": 7}, []),  # for the provider to refuse
    ],
)
def test_needs_of_a_chat_request(fields: dict[str, Any], expected: list[str]) -> None:
    assert needs(Dialect.OPENAI_CHAT, fields) == expected


@pytest.mark.req("D-021", "D-022")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"input": "hi"}, []),
        ({"tools": [{"type": "function", "name": "f"}], "tool_choice": "auto"}, ["tools"]),
        ({"tool_choice": "required"}, ["forced_tools"]),
        ({"tool_choice": {"type": "function", "name": "f"}}, ["forced_tools"]),
        ({"tool_choice": {"type": "allowed_tools", "mode": "required"}}, ["forced_tools"]),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto"}}, []),
        ({"parallel_tool_calls": True}, ["parallel_tools"]),
        ({"text": {"format": {"type": "json_schema"}}}, ["structured_output"]),
        ({"text": {"format": {"type": "text"}}}, []),
        (said({"type": "input_text", "text": "hi"}, {"type": "input_image", "file_id": "f"}), ["images"]),
        (said({"type": "input_audio", "input_audio": {}}), ["audio"]),
        (said({"type": "input_file", "file_id": "f"}), ["files"]),
        ({"input": [{"type": "additional_tools", "tools": [TOOL]}]}, ["tools"]),
        ({"input": [{"type": "tool_search_output", "tools": [TOOL]}]}, ["tools"]),
        (said({"type": "input_text", "text": '"type": "input_image"'}), []),
        ({"reasoning": {"effort": "medium"}}, ["reasoning"]),
        ({"reasoning": {"effort": "none"}}, []),
        ({"max_output_tokens": 16}, ["honors_max_tokens"]),
    ],
)
def test_needs_of_a_responses_request(fields: dict[str, Any], expected: list[str]) -> None:
    assert needs(Dialect.OPENAI_RESPONSES, fields) == expected


@pytest.mark.req("D-021", "D-022")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"tools": [{"name": "f"}]}, ["tools"]),
        ({"tool_choice": {"type": "auto"}}, []),
        ({"tool_choice": {"type": "any"}}, ["forced_tools"]),
        ({"tool_choice": {"type": "tool", "name": "f"}}, ["forced_tools"]),
        ({"output_config": {"format": {"type": "json_schema"}}}, ["structured_output"]),
        (message({"type": "image", "source": {}}), ["images"]),
        (message({"type": "document", "source": {}}), ["files"]),
        (message({"type": "tool_result", "content": [{"type": "image", "source": {}}]}), ["images"]),
        (message({"type": "text", "text": '"type": "image"'}), []),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, ["reasoning"]),
        ({"max_tokens": 64}, ["honors_max_tokens"]),
    ],
)
def test_needs_of_a_messages_request(fields: dict[str, Any], expected: list[str]) -> None:
    assert needs(Dialect.ANTHROPIC_MESSAGES, fields) == expected


@pytest.mark.req("D-021", "D-022")
@pytest.mark.parametrize(
    ("dialect", "fields", "expected"),
    [
        (Dialect.OPENAI_EMBEDDINGS, {"input": ["hi"], "dimensions": 3}, []),
        (Dialect.OPENAI_COMPLETIONS, {"prompt": "hi"}, []),
        (Dialect.OPENAI_COMPLETIONS, {"prompt": "hi", "max_tokens": 16}, ["honors_max_tokens"]),
    ],
)
def test_needs_of_other_requests(dialect: Dialect, fields: dict[str, Any], expected: list[str]) -> None:
    assert needs(dialect, fields) == expected


def test_equal_needs_are_equal_whatever_the_order_of_the_fields() -> None:
    everything = {"max_tokens": 1, "reasoning_effort": "high", "tools": [TOOL], "parallel_tool_calls": True}

    found = needs(Dialect.OPENAI_CHAT, everything)

    assert found == needs(Dialect.OPENAI_CHAT, dict(reversed(everything.items())))
    assert found == [capability for capability in Capability if capability in found]
