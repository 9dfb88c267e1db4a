"""What dialects have in common: requests and answers in the words of none of them (pure)."""

from enum import StrEnum

from msgspec import Raw

from pointsman.domain.outcome import Usage
from pointsman.domain.value import Leaf

_ERROR = "Error"


class Role(StrEnum):
    """Who says a turn."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Text(Leaf):
    """Read or said; in a stream the next piece of it."""

    text: str


class Image(Leaf):
    """Either an address or the picture itself; nobody here fetches addresses (G-15)."""

    url: str = ""
    media_type: str = ""
    data: str = ""  # base64


class File(Leaf):
    """A document within the request."""

    name: str
    media_type: str
    data: str  # base64


class Call(Leaf):
    """The model calls a tool."""

    id: str
    name: str
    arguments: str  # JSON text, as it was said


class Result(Leaf):
    """What a tool gave back."""

    call_id: str
    parts: tuple["Medium", ...]
    is_error: bool = False


class Thinking(Leaf):
    """What the model thought; in a stream the next piece of it.

    History has none: a signature counts for its own provider only (G-10).
    """

    text: str


class Refusal(Leaf):
    """Said instead of an answer; in a stream the next piece of it."""

    text: str


Medium = Text | Image | File  # for the model to read or look at
Part = Medium | Call | Result
Said = Text | Thinking | Refusal | Call  # parts of an answer


class Turn(Leaf):
    """One turn of a conversation."""

    role: Role
    parts: tuple[Part, ...]


class Tool(Leaf):
    """A function that the model may call."""

    name: str
    description: str | None
    schema: Raw | None  # as it was written: key order and numbers are part of what providers cache
    strict: bool | None = None


class Choice(StrEnum):
    """Whether a tool has to be called."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class Structure(Leaf):
    """How the answer has to look. `schema` None: any JSON object."""

    schema: Raw | None
    name: str = "answer"
    strict: bool | None = None


class Lost(Leaf):
    """What of a request cannot be carried into a dialect."""

    parameters: tuple[str, ...] = ()
    content: tuple[str, ...] = ()  # of the conversation: never left out, whatever a group allows


class Request(Leaf):
    """A request. None: the caller did not say."""

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    choice: Choice | None = None
    chosen: str | None = None  # the tool that has to be called
    one_call_at_most: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    structure: Structure | None = None
    effort: str | None = None  # of reasoning; None: no reasoning is asked for
    verbosity: str | None = None
    lost: Lost = Lost()  # what has no neutral form


def marked(result: Result, text: str) -> str:
    """What a tool gave back, for dialects that have no other mark of an error."""
    return f"{_ERROR}: {text}" if result.is_error and not text.startswith(_ERROR) else text


class Finish(StrEnum):
    """Why an answer ended, as far as dialects agree; other words of a provider are handed on as they are."""

    NATURAL = "natural"
    LENGTH = "length"
    CALLS = "calls"
    REFUSED = "refused"


class Answer(Leaf):
    """A whole answer."""

    id: str
    model: str
    parts: tuple[Said, ...]
    finish: str | None
    usage: Usage | None


def ended(finish: str | None, *, has_calls: bool, has_refusal: bool) -> str | None:
    """A natural end after a tool call is one for the call, whatever the provider said (G-04)."""
    if finish != Finish.NATURAL:
        return finish
    return Finish.CALLS if has_calls else Finish.REFUSED if has_refusal else finish


def finish_of(parts: tuple[Said, ...], finish: str | None) -> str | None:
    """The same of a whole answer."""
    kinds = set(map(type, parts))
    return ended(finish, has_calls=Call in kinds, has_refusal=Refusal in kinds)
