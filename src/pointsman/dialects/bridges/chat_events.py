"""Streamed answers of Chat Completions, from and to neutral events (pure)."""

from typing import Any, assert_never

import msgspec

from pointsman.dialects import openai_wire
from pointsman.dialects.bridges import chat_answer
from pointsman.dialects.bridges import chat_shapes as shapes
from pointsman.dialects.bridges.call_order import CallOrder
from pointsman.dialects.bridges.events import (
    Begun,
    Broken,
    CallBegun,
    CallDelta,
    Counted,
    Ended,
    Event,
    Failed,
    Finished,
    Written,
)
from pointsman.dialects.bridges.neutral import Refusal, Text, Thinking
from pointsman.dialects.provider_error import NULL, UNREADABLE, error_of, is_given
from pointsman.dialects.sse import SseEvent
from pointsman.domain.outcome import ProviderError, Usage

Json = dict[str, Any]

_DONE = b"[DONE]"
_FAILED = ProviderError("The provider ended the answer with an error.")


class ChatReader:
    """Reads the chunks of one answer."""

    def __init__(self) -> None:
        self._calls = CallOrder()
        self._has_begun = False

    def read(self, data: bytes) -> list[Event]:
        if data.strip() == _DONE:
            return [Ended()]
        try:
            chunk = shapes.read_answer(data)
        except UNREADABLE:
            return [Broken()] if data.strip() else []  # an event without data says nothing
        found: list[Event] = []
        if not self._has_begun and (chunk.id or chunk.choices):  # some begin with what a filter thinks of the prompt
            self._has_begun = True
            found.append(Begun(chunk.id, chunk.model))
        if chunk.error is not NULL and is_given(chunk.error):
            return [*found, Failed(error_of(chunk.error))]
        if chunk.choices:
            found += self._choice(chunk.choices[0], chunk.id)
        if chunk.usage is not NULL:
            usage = openai_wire.usage(shapes.counts(chunk.usage))
            if usage is not None:
                found.append(Counted(usage))
        return found

    def _choice(self, choice: shapes.Choice, answer_id: str) -> list[Event]:
        if choice.error is not NULL and is_given(choice.error):
            return [Failed(error_of(choice.error))]
        found: list[Event] = []
        if choice.delta is not None:
            found += self._delta(choice.delta, answer_id)
        finish = choice.finish_reason
        if finish == "error":
            return [*found, Failed(_FAILED)]
        if finish is not None:
            found.append(Finished(chat_answer.finish_by(finish)))
        return found

    def _delta(self, delta: shapes.Said, answer_id: str) -> list[Event]:
        found: list[Event] = []
        if thoughts := delta.reasoning_content or delta.reasoning:
            found.append(Thinking(thoughts))
        if delta.content:
            found.append(Text(delta.content))
        if delta.refusal:
            found.append(Refusal(delta.refusal))
        for piece in delta.tool_calls or ():
            found += self._calls.take(piece, answer_id)
        return found


class ChatWriter:
    """Writes the chunks of one answer."""

    def __init__(self, created_s: int) -> None:
        self._created_s = created_s
        self._head = b""  # of every chunk

    def write(self, event: Written) -> list[SseEvent]:
        match event:
            case Text():
                return [self._delta({"content": event.text})]
            case CallDelta():
                piece = {"index": event.number, "function": {"arguments": event.arguments}}
                return [self._delta({"tool_calls": [piece]})]
            case Thinking():
                return [self._delta({"reasoning_content": event.text})]
            case CallBegun():
                function = {"name": event.name, "arguments": ""}
                call = {"index": event.number, "id": event.id, "type": "function", "function": function}
                return [self._delta({"tool_calls": [call]})]
            case Refusal():
                return [self._delta({"refusal": event.text})]
            case Begun():
                return [self._begin(event)]
            case Failed():
                return [_event(msgspec.json.encode({"error": event.error}))]
            case unexpected:
                assert_never(unexpected)

    def end(self, finish: str | None, usage: Usage | None) -> list[SseEvent]:
        found = [self._delta({}, chat_answer.word_of(finish))]
        if usage is not None:
            counted = msgspec.json.encode(chat_answer.usage(usage))
            found.append(_event(b'%b,"choices":[],"usage":%b}' % (self._head, counted)))
        return [*found, _event(_DONE)]

    def _begin(self, event: Begun) -> SseEvent:
        fields = {"id": event.id, "object": "chat.completion.chunk", "created": self._created_s, "model": event.model}
        self._head = msgspec.json.encode(fields)[:-1]
        return self._delta({"role": "assistant", "content": ""})

    def _delta(self, delta: Json, finish: str | None = None) -> SseEvent:
        said, reason = msgspec.json.encode(delta), msgspec.json.encode(finish)
        choice = b'{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}' % (said, reason)
        return _event(b'%b,"choices":[%b]}' % (self._head, choice))


def _event(data: bytes) -> SseEvent:
    return SseEvent(b"data: %b\n\n" % data, data)
