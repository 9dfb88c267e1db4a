"""Shapes of Chat Completions, read as far as a bridge carries them (pure)."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.openai_wire import TokenCounts
from pointsman.dialects.provider_error import NULL, UNREADABLE, is_given

# --- requests


class ImageUrl(Struct):
    """An address, or a data URL."""

    url: str


class FilePart(Struct):
    """A file within the request, or one that the provider keeps."""

    filename: str = ""
    file_data: str = ""


class Part(Struct):
    """One part of a message."""

    type: str = ""
    text: str = ""
    refusal: str = ""
    image_url: ImageUrl | str | None = None
    file: FilePart | None = None


class Function(Struct):
    """A call, as it is said whole or in pieces."""

    name: str | None = None
    arguments: str | None = None


class ToolCall(Struct):
    """One call of a message, or a piece of one."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None


class Message(Struct):
    """One message of the history."""

    role: str
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str = ""
    function_call: Raw = NULL


class FunctionTool(Struct):
    """What a tool can do."""

    name: str
    description: str | None = None
    parameters: Raw = NULL
    strict: bool | None = None


class Tool(Struct):
    """One tool."""

    type: str = "function"
    function: FunctionTool | None = None


class NamedFunction(Struct):
    """Which one."""

    name: str = ""


class NamedChoice(Struct):
    """A choice of one tool."""

    type: str = ""
    function: NamedFunction | None = None


class JsonSchema(Struct):
    """A structure by its schema."""

    name: str = "answer"
    schema: Raw = NULL
    strict: bool | None = None


class ResponseFormat(Struct):
    """How the answer has to look."""

    type: str = ""
    json_schema: JsonSchema | None = None


# --- answers


class Said(Struct):
    """A whole message, or a piece of it. Engines call their reasoning by two names."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None


class Choice(Struct):
    """One choice."""

    message: Said | None = None
    delta: Said | None = None
    finish_reason: str | None = None
    error: Raw = NULL


class Answer(Struct):
    """A whole answer, or one event of a stream."""

    id: str = ""
    model: str = ""
    choices: list[Choice] | None = None
    usage: Raw = NULL
    error: Raw = NULL


MESSAGES = Decoder(list[Message])
TOOLS = Decoder(list[Tool])
TOOL_CHOICE = Decoder(str | NamedChoice)
RESPONSE_FORMAT = Decoder(ResponseFormat)
read_answer = Decoder(Answer).decode
_decode_counts = Decoder(TokenCounts).decode


def counts(raw: Raw) -> TokenCounts | None:
    """None: the provider did not say, or nothing to trust."""
    if not is_given(raw):
        return None
    try:
        return _decode_counts(raw)
    except UNREADABLE:
        return None
