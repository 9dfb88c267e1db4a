"""Shapes of Anthropic Messages, read as far as a bridge carries them (pure)."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import NULL


class Source(Struct):
    """Where an image or a document is."""

    type: str = ""
    media_type: str = ""
    data: str = ""
    url: str = ""


class Citations(Struct):
    """Whether an answer says what it rests on."""

    enabled: bool = False


class Block(Struct):
    """One block of a message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Raw = NULL
    tool_use_id: str = ""
    content: "str | list[Block] | None" = None
    is_error: bool | None = None
    source: Source | None = None
    title: str | None = None
    citations: Citations | list[Raw] | None = None


class Message(Struct):
    """One message of the history."""

    role: str
    content: str | list[Block]


class Tool(Struct):
    """One tool; without a type it is the caller's own (G-14)."""

    name: str = ""
    type: str | None = None
    description: str | None = None
    input_schema: Raw = NULL
    strict: bool | None = None


class ToolChoice(Struct):
    """Whether a tool has to be called, and which."""

    type: str = ""
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Struct):
    """Whether, and how much, to think."""

    type: str = "disabled"
    budget_tokens: int | None = None


class Format(Struct):
    """A structure by its schema."""

    type: str = ""
    schema: Raw = NULL


class OutputConfig(Struct):
    """How to answer."""

    effort: str | None = None
    format: Format | None = None


class Answer(Struct):
    """A whole answer, or how a stream begins."""

    id: str = ""
    model: str = ""
    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Raw = NULL


class Delta(Struct):
    """More of a block, or how the answer ends."""

    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class Event(Struct):
    """One event of a stream."""

    type: str = ""
    index: int = 0
    message: Answer | None = None
    content_block: Block | None = None
    delta: Delta | None = None
    usage: Raw = NULL
    error: Raw = NULL


MESSAGES = Decoder(list[Message])
SYSTEM = Decoder(str | list[Block])
TOOLS = Decoder(list[Tool])
TOOL_CHOICE = Decoder(ToolChoice)
THINKING = Decoder(Thinking)
OUTPUT_CONFIG = Decoder(OutputConfig)
FORMAT = Decoder(Format)
read_answer = Decoder(Answer).decode
read_event = Decoder(Event).decode
