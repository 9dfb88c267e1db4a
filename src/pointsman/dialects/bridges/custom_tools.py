"""Tools of Responses whose input is a text, as functions that take one (pure).

Agents change files with them. Other dialects have functions only, whose arguments are objects.
"""

import msgspec
from msgspec import Raw

from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.neutral import Tool
from pointsman.dialects.provider_error import UNREADABLE

KIND = "custom"
_SCHEMA = Raw(
    b'{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}'
)


def as_function(tool: shapes.Tool) -> Tool:
    """A grammar cannot be enforced any more, so the model is told of it."""
    told = tool.description or ""
    if tool.format is not None and tool.format.definition:
        told = f"{told}\n\nThe input has to follow this {tool.format.syntax} grammar:\n{tool.format.definition}".strip()
    return Tool(tool.name, told or None, _SCHEMA)


def arguments_of(text: str) -> str:
    return msgspec.json.encode({"input": text}).decode()


def input_in(arguments: str) -> str:
    """What a model wrote otherwise than it should have is the tool's to refuse."""
    try:
        return shapes.read_custom_arguments(arguments).input
    except UNREADABLE:
        return arguments
