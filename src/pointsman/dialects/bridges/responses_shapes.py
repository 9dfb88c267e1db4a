"""Shapes of Responses, read as far as a bridge carries them (pure)."""

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import NULL

# --- requests


class Part(Struct):
    """One part of a message, of an answer, or of what a tool gave back."""

    type: str = ""
    text: str = ""
    refusal: str = ""
    image_url: str | None = None
    filename: str | None = None
    file_data: str | None = None


class Item(Struct):
    """One item of the history, or of the output."""

    type: str = "message"
    role: str = ""
    content: str | list[Part] | None = None
    summary: list[Part] | None = None
    call_id: str = ""
    name: str = ""
    namespace: str | None = None  # of a tool
    arguments: str | dict[str, Raw] | None = None  # an object in searches for tools
    input: str = ""
    output: str | list[Part] | None = None
    tools: list["Tool"] = []

    @property
    def call(self) -> str:
        """The arguments as functions have them."""
        said = self.arguments
        return (said or "") if said is None or isinstance(said, str) else msgspec.json.encode(said).decode()


class Format(Struct):
    """How the answer has to look, or what the input of a tool has to look like."""

    type: str = "text"
    name: str = "answer"
    schema: Raw = NULL
    strict: bool | None = None
    syntax: str = ""
    definition: str = ""


class Tool(Struct):
    """One tool."""

    type: str = ""
    name: str = ""
    description: str | None = None
    parameters: Raw = NULL
    strict: bool | None = None
    format: Format | None = None
    tools: list["Tool"] = []  # of a namespace
    execution: str = ""  # who does a search


class NamedChoice(Struct):
    """A choice of one tool."""

    type: str = ""
    name: str = ""
    namespace: str | None = None


class TextOptions(Struct):
    """`text`: what the answer has to look like, and how long it may get."""

    format: Format | None = None
    verbosity: str | None = None


class Reasoning(Struct):
    """`reasoning`: how much of it."""

    effort: str | None = None


class CustomArguments(Struct):
    """What a tool that takes a text is called with, where functions are all there is."""

    input: str


# --- answers


class Incomplete(Struct):
    """Why an answer is not complete."""

    reason: str | None = None


class Answer(Struct):
    """A whole answer, or the one that an event is about."""

    id: str = ""
    model: str = ""
    status: str | None = None
    output: list[Item] | None = None
    incomplete_details: Incomplete | None = None
    usage: Raw = NULL


class Event(Struct):
    """One event of a stream."""

    type: str = ""
    output_index: int = 0
    content_index: int = 0
    summary_index: int = 0
    delta: str = ""
    text: str = ""
    refusal: str = ""
    arguments: str = ""
    item: Item | None = None
    response: Raw = NULL
    error: Raw = NULL


INPUT = Decoder(str | list[Item])
TOOLS = Decoder(list[Tool])
TOOL_CHOICE = Decoder(str | NamedChoice)
TEXT_OPTIONS = Decoder(TextOptions)
REASONING = Decoder(Reasoning)
read_custom_arguments = Decoder(CustomArguments).decode
read_answer = Decoder(Answer).decode
read_event = Decoder(Event).decode
