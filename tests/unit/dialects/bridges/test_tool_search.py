"""The search for more tools that a client of Responses does itself, where functions are all there is."""

import json

import pytest
from msgspec import Raw

from pointsman.dialects.bridges.bridge import Surroundings
from pointsman.dialects.bridges.neutral import Lost
from pointsman.dialects.bridges.tool_search import arguments_in
from pointsman.domain.request import Dialect
from pointsman.testing import ToolCall, chat
from tests.unit.dialects.bridges.carried import (
    CHAT,
    CREATED_S,
    MESSAGES,
    RESPONSES,
    answered,
    end,
    lost,
    sent,
    streamed,
)

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
SEARCH = {"type": "tool_search", "execution": "client", "description": "Find more.", "parameters": SCHEMA}
FOUND = {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "close"}]}
CALL = {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"query": "agents"}}
OUTPUT = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [FOUND]}
AROUND = Surroundings(CREATED_S, 7, {"tools": Raw(json.dumps([SEARCH]).encode())})


@pytest.mark.parametrize("spoken", [CHAT, MESSAGES])
def test_nothing_of_it_is_lost(spoken: Dialect) -> None:
    assert lost(RESPONSES, spoken=spoken, tools=[SEARCH], input=[CALL, OUTPUT]) == Lost()


@pytest.mark.parametrize("execution", ["server", None])
def test_a_search_that_the_provider_does_is_the_providers(execution: str | None) -> None:
    tool = {"type": "tool_search"} if execution is None else {"type": "tool_search", "execution": execution}

    assert lost(RESPONSES, tools=[tool]) == Lost(content=("tools.tool_search",))


def test_it_is_a_function() -> None:
    (found,) = sent(RESPONSES, input="hi", tools=[SEARCH])["tools"]

    assert found["function"] == {"name": "tool_search", "description": "Find more.", "parameters": SCHEMA}


def test_earlier_searches_are_calls_and_their_results_name_what_was_found() -> None:
    called, result = sent(RESPONSES, input=[CALL, OUTPUT], tools=[SEARCH])["messages"]

    (call,) = called["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("tool_search", {"query": "agents"})
    assert (result["tool_call_id"], result["content"]) == ("c1", "These tools can be called now: agents__close")


def test_a_search_that_found_nothing_says_so() -> None:
    _, result = sent(RESPONSES, input=[CALL, {**OUTPUT, "tools": []}], tools=[SEARCH])["messages"]

    assert result["content"] == "No tool was found."


def test_a_whole_call_has_an_object_of_arguments() -> None:
    call = ToolCall("tool_search", '{"query":"agents"}', "c1")
    called = chat.completion("", to=chat.NOTHING_SPECIAL, tool_calls=[call])

    (found,) = answered(RESPONSES, called, around=AROUND)["output"]

    assert found == {**CALL, "id": found["id"], "status": "completed"}


def test_a_streamed_call_is_complete_when_it_is_done() -> None:
    call = ToolCall("tool_search", '{"query":"agents"}', "c1")
    pieces = map(chat.chunk, chat.tool_call_deltas([call]))

    found = streamed(RESPONSES, *pieces, chat.chunk({}, finish_reason="tool_calls"), chat.DONE, around=AROUND)

    items = [event["item"] for event in found if isinstance(event, dict) and "item" in event]
    assert [(item["status"], item["arguments"]) for item in items] == [
        ("in_progress", {}), ("completed", {"query": "agents"})
    ]  # fmt: skip
    assert end(found)["output"] == items[1:]
    assert [event["sequence_number"] for event in found if isinstance(event, dict)] == list(range(len(found)))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("", {}), ('{"query":"a"}', {"query": "a"}), ("agents", {"query": "agents"}), ("[1]", {"query": "[1]"})],
)
def test_what_the_model_wrote_otherwise_is_what_is_searched_for(text: str, arguments: object) -> None:
    found = arguments_in(text)

    assert (json.loads(bytes(found)) if isinstance(found, Raw) else found) == arguments
