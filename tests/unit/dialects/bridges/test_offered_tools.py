"""Tools of Responses in namespaces, and those that the conversation offers, where a tool has one name only."""

import json

import pytest
from msgspec import Raw

from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.bridge import Surroundings
from pointsman.dialects.bridges.neutral import Lost
from pointsman.dialects.bridges.offered_tools import Named, joined, named_in, offered
from pointsman.dialects.bridges.responses_kinds import CUSTOM, SEARCH
from pointsman.domain.request import Dialect
from pointsman.testing import ToolCall, chat
from tests.unit.dialects.bridges.carried import (
    CHAT,
    CREATED_S,
    MESSAGES,
    RESPONSES,
    answered,
    lost,
    output,
    sent,
    streamed,
)

SCHEMA = {"type": "object", "properties": {"target": {"type": "string"}}}
CLOSE = {"type": "function", "name": "close", "description": "Close one.", "parameters": SCHEMA}
PATCH = {"type": "custom", "name": "patch"}
AGENTS = {"type": "namespace", "name": "agents", "description": "About agents.", "tools": [CLOSE, PATCH]}
PLAIN = {"type": "function", "name": "close", "parameters": SCHEMA}
AROUND = Surroundings(CREATED_S, 7, {"tools": Raw(json.dumps([AGENTS, PLAIN]).encode())})
SPOKEN = pytest.mark.parametrize("spoken", [CHAT, MESSAGES])


@pytest.mark.parametrize(
    ("namespace", "name", "known_as"),
    [("", "f", "f"), ("agents", "f", "agents__f"), ("mcp__files__", "f", "mcp__files__f")],
)
def test_a_tool_has_one_name_elsewhere(namespace: str, name: str, known_as: str) -> None:
    assert joined(namespace, name) == known_as


def test_tools_stand_in_the_place_of_their_namespace_and_say_what_it_says() -> None:
    tools = shapes.TOOLS.decode(json.dumps([AGENTS, PLAIN]))

    found = [(tool.type, tool.name, tool.description) for tool in offered(tools, ())]

    assert found == [
        ("function", "agents__close", "About agents.\n\nClose one."),
        ("custom", "agents__patch", "About agents."),
        ("function", "close", None),
    ]


def test_only_tools_that_are_more_than_a_function_with_a_name_are_looked_up() -> None:
    tools = Raw(json.dumps([AGENTS, PLAIN, {"type": "custom", "name": "edit"}]).encode())

    assert named_in({"tools": tools}) == {
        "agents__close": Named("close", "agents"),
        "agents__patch": Named("patch", "agents", kind=CUSTOM),
        "edit": Named("edit", kind=CUSTOM),
    }


@SPOKEN
def test_nothing_of_a_namespace_is_lost(spoken: Dialect) -> None:
    assert lost(RESPONSES, spoken=spoken, tools=[AGENTS, PLAIN]) == Lost()


def test_a_tool_that_only_the_provider_has_is_one_in_a_namespace_too() -> None:
    nested = {"type": "namespace", "name": "web", "tools": [{"type": "web_search"}]}

    assert lost(RESPONSES, tools=[nested]) == Lost(content=("tools.web_search",))


def test_schemas_go_on_as_they_were_written() -> None:
    first, _, last = sent(RESPONSES, input="hi", tools=[AGENTS, PLAIN])["tools"]

    assert (first["function"]["name"], first["function"]["parameters"]) == ("agents__close", SCHEMA)
    assert last["function"]["name"] == "close"


def test_earlier_calls_have_the_name_of_their_tool() -> None:
    calls = [
        {"type": "function_call", "call_id": "c1", "namespace": "agents", "name": "close", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "closed"},
        {"type": "custom_tool_call", "call_id": "c2", "namespace": "agents", "name": "patch", "input": "x"},
        {"type": "function_call", "call_id": "c3", "namespace": None, "name": "close", "arguments": "{}"},
    ]

    found = sent(RESPONSES, input=calls, tools=[AGENTS, PLAIN])["messages"]

    names = [call["function"]["name"] for said in found for call in said.get("tool_calls", ())]
    assert names == ["agents__close", "agents__patch", "close"]


def test_a_choice_names_the_tool_that_the_target_knows() -> None:
    choice = {"type": "function", "namespace": "agents", "name": "close"}

    found = sent(RESPONSES, input="hi", tools=[AGENTS], tool_choice=choice)

    assert found["tool_choice"]["function"]["name"] == "agents__close"


def test_a_call_comes_back_in_its_namespace() -> None:
    calls = ToolCall("agents__close", '{"target":"a"}', "c1"), ToolCall("close", "{}", "c2")
    called = chat.completion("", to=chat.NOTHING_SPECIAL, tool_calls=calls)

    inner, plain = answered(RESPONSES, called, around=AROUND)["output"]

    assert (inner["type"], inner["namespace"], inner["name"]) == ("function_call", "agents", "close")
    assert (plain["name"], "namespace" in plain) == ("close", False)


def test_a_streamed_call_comes_back_in_its_namespace_from_the_beginning() -> None:
    calls = (ToolCall("agents__close", '{"target":"a"}', "c1"), ToolCall("agents__patch", '{"input":"+a"}', "c2"))
    pieces = map(chat.chunk, chat.tool_call_deltas(calls))

    found = streamed(RESPONSES, *pieces, chat.chunk({}, finish_reason="tool_calls"), chat.DONE, around=AROUND)

    function, custom = output(found)
    assert (function["namespace"], function["name"], function["arguments"]) == ("agents", "close", '{"target":"a"}')
    assert (custom["type"], custom["namespace"], custom["input"]) == ("custom_tool_call", "agents", "+a")
    begun = [event["item"]["namespace"] for event in found if isinstance(event, dict) and "added" in event["type"]]
    assert begun == ["agents", "agents"]


# --- offered by the conversation


ADDED = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [AGENTS]}
SEARCHED = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [AGENTS]}
SEARCH_TOOL = {"type": "tool_search", "execution": "client", "description": "Find more.", "parameters": SCHEMA}
USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("item", [ADDED, SEARCHED], ids=["added", "found"])
def test_tools_that_the_conversation_offers_are_offered_with_the_others_and_once(item: dict[str, object]) -> None:
    found = sent(RESPONSES, input=[USER, item, item], tools=[PLAIN])["tools"]

    assert [tool["function"]["name"] for tool in found] == ["close", "agents__close", "agents__patch"]
    assert lost(RESPONSES, input=[USER, item]) == Lost()


@pytest.mark.parametrize("item", [ADDED, SEARCHED], ids=["added", "found"])
def test_a_call_of_one_of_them_comes_back_in_its_namespace(item: dict[str, object]) -> None:
    around = Surroundings(CREATED_S, 7, {"input": Raw(json.dumps([USER, item]).encode())})
    call = ToolCall("agents__patch", '{"input":"+a"}', "c1")

    called = chat.completion("", to=chat.NOTHING_SPECIAL, tool_calls=[call])
    (found,) = answered(RESPONSES, called, around=around)["output"]

    assert (found["type"], found["namespace"], found["name"]) == ("custom_tool_call", "agents", "patch")


@pytest.mark.parametrize("said", ['"additional_tools"', "null", '[{"role":"user","content":"\\"additional_tools\\""}]'])
def test_a_conversation_that_only_speaks_of_them_offers_none(said: str) -> None:
    assert named_in({"input": Raw(said.encode())}) == {}


def test_the_clients_search_is_known_by_its_kind() -> None:
    assert named_in({"tools": Raw(json.dumps([SEARCH_TOOL]).encode())}) == {
        "tool_search": Named("tool_search", kind=SEARCH)
    }
