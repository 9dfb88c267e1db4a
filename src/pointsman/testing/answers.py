"""What a fake provider can answer: frozen values that say what goes over the wire and how it ends. Pure.

Every answer takes `delay_s` (silence before its first byte) and `headers` (each replaces the usual one of its name).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import chat, messages, plain, responses
from pointsman.testing.chat import ToolCall

COUNT_FOR_ME = Usage()  # no number given: the provider invents plausible ones

TruncatedThen = Literal["cut", "reset", "stall"]
EventsThen = Literal["done", "end", "cut", "reset", "stall"]
RawThen = Literal["close", "reset", "stall", "keep"]

Event: TypeAlias = bytes | Mapping[str, object]


class _Scripted(Struct, frozen=True, kw_only=True):
    delay_s: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()


class Chat(_Scripted, frozen=True):
    """A proper answer, unary or streamed word by word as the request asks."""

    text: str = "ok"
    usage: Usage | None = COUNT_FOR_ME  # None: the provider states no usage
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None  # in OpenAI's words; None: "tool_calls" if there are any, else "stop"
    reasoning: str = ""  # what the model thinks before it speaks
    gap_s: float = 0.0  # between words; a unary answer is held back as long as its stream would take


class Status(_Scripted, frozen=True):
    """An error, or any status: an error object of the dialect unless `body` says otherwise."""

    code: int
    error: str | Mapping[str, object] | None = None  # its message, or fields of the error object
    retry_after: float | str | None = None  # seconds, or the header's text as it is
    body: bytes | None = None
    content_type: str = "application/json"


class Json(_Scripted, frozen=True):
    """Any payload under any status."""

    status: int
    payload: object


class Events(_Scripted, frozen=True):
    """A stream of exactly these events; bytes go out as they are, mappings as the dialect frames them.

    `then`: `done` sends the terminator and ends the message, `end` ends it without, `cut` closes without the last
    chunk, `reset` aborts, `stall` stays open and silent.
    """

    events: tuple[Event, ...]
    gap_s: float = 0.0  # between events
    then: EventsThen = "done"
    split: int | None = None  # payload bytes per chunk and TCP write, so that events are cut anywhere; None: whole

    def __post_init__(self) -> None:
        _check("then", self.then, get_args(EventsThen))
        if self.split is not None and self.split < 1:
            raise ValueError(f"split must be at least 1, got {self.split}")


class Truncated(_Scripted, frozen=True):
    """A unary answer that announces its whole length and sends only the beginning."""

    text: str = "ok"
    sent_bytes: int | None = None  # of the body; None: half of it
    then: TruncatedThen = "cut"

    def __post_init__(self) -> None:
        _check("then", self.then, get_args(TruncatedThen))


class Raw(_Scripted, frozen=True):
    """Exactly these bytes, one write each, without a head of ours: for everything that is not valid HTTP.

    `keep` leaves the connection ready for the next request. `headers` has no effect.
    """

    pieces: tuple[bytes, ...]
    then: RawThen = "close"
    gap_s: float = 0.0  # between pieces

    def __post_init__(self) -> None:
        _check("then", self.then, get_args(RawThen))


class CloseEarly(_Scripted, frozen=True):
    """Reads the request and closes without a byte: FIN, or RST."""

    reset: bool = False


class Hang(_Scripted, frozen=True):
    """Reads the request and never answers."""


Answer: TypeAlias = Chat | Status | Json | Events | Truncated | Raw | CloseEarly | Hang


def stream_of(
    *texts: str,
    then: EventsThen = "done",
    gap_s: float = 0.0,
    split: int | None = None,
    dialect: Dialect = Dialect.OPENAI_CHAT,
) -> Events:
    """A stream with these content deltas; it carries a finish reason only if it ends properly."""
    begin, end = _STREAMS[dialect]
    events = begin(texts)
    if then in {"done", "end"}:
        events += end
    return Events(tuple(events), then=then, gap_s=gap_s, split=split)


def _chat_begin(texts: Sequence[str]) -> list[chat.Payload]:
    return [chat.chunk(delta) for delta in (chat.role_delta(), *map(chat.text_delta, texts))]


def _messages_begin(texts: Sequence[str]) -> list[chat.Payload]:
    begin = messages.message_start(), messages.block_start(messages.text_block(""))
    return [*begin, *map(messages.text_delta, texts)]


def _responses_begin(texts: Sequence[str]) -> list[chat.Payload]:
    return [*responses.created(), *responses.text_begin(), *map(responses.text_delta, texts)]


def _completions_begin(texts: Sequence[str]) -> list[chat.Payload]:
    return [*map(plain.completion, texts)]


_STREAMS: Mapping[Dialect, tuple[Callable[[Sequence[str]], list[chat.Payload]], list[chat.Payload]]] = {
    Dialect.OPENAI_CHAT: (_chat_begin, [chat.chunk({}, finish_reason="stop")]),
    Dialect.OPENAI_RESPONSES: (_responses_begin, [responses.item_done(responses.message_item("so"))]),
    Dialect.OPENAI_COMPLETIONS: (_completions_begin, [plain.completion("", finish_reason="stop")]),
    Dialect.ANTHROPIC_MESSAGES: (_messages_begin, [messages.block_stop(), messages.message_delta("end_turn")]),
}


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """A misspelt ending would otherwise show up as a hanging test."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
