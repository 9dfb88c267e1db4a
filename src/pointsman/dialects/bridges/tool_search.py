"""The search for more tools that a client of Responses does itself, as a function (pure).

What it finds comes with its result, and is offered from then on. A search that the provider does is one of its own
tools, which nobody else has.
"""

import msgspec
from msgspec import Raw

from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.neutral import Result, Text, Tool
from pointsman.dialects.bridges.reading import unless_null
from pointsman.dialects.provider_error import UNREADABLE

KIND = NAME = "tool_search"
CALL, RESULT = "tool_search_call", "tool_search_output"  # items of the conversation
_BY_CLIENT = "client"


def is_the_clients(tool: shapes.Tool) -> bool:
    return tool.type == KIND and tool.execution == _BY_CLIENT


def as_function(tool: shapes.Tool) -> Tool:
    return Tool(NAME, tool.description, unless_null(tool.parameters))


def result_of(item: shapes.Item, names: list[str]) -> Result:
    """`names`: what was found, as the model knows it."""
    told = f"These tools can be called now: {', '.join(names)}" if names else "No tool was found."
    return Result(item.call_id, (Text(told),))


def arguments_in(text: str) -> Raw | dict[str, str]:
    """The arguments of a call as the object that the client wants; what is none is what it searches for."""
    raw = text.encode() or b"{}"
    try:
        found = msgspec.json.decode(raw)
    except UNREADABLE:
        found = None
    return Raw(raw) if isinstance(found, dict) else {"query": text}
