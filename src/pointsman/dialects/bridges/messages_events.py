"""Streamed answers of Anthropic Messages, from and to neutral events (pure)."""

from typing import Any, assert_never

import msgspec

from pointsman.dialects import anthropic_wire
from pointsman.dialects.bridges import messages_answer
from pointsman.dialects.bridges import messages_shapes as shapes
from pointsman.dialects.bridges.blocks import Blocks, event
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
from pointsman.domain.outcome import Usage

Json = dict[str, Any]

_NO_INPUT = frozenset((b"null", b"{}"))
# how a delta of each kind of block begins; its text follows
_TEXT = b'"type":"text_delta","text"'
_THINKING = b'"type":"thinking_delta","thinking"'
_CALL = b'"type":"input_json_delta","partial_json"'
_TEXT_START = b'{"type":"text","text":""}'
_THINKING_START = b'{"type":"thinking","thinking":"","signature":""}'


class MessagesReader:
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._calls: dict[int, int] = {}  # index of the block -> number of the call (G-01)
        self._without_arguments: set[int] = set()  # indexes of blocks

    def read(self, data: bytes) -> list[Event]:
        try:
            found = shapes.read_event(data)
        except UNREADABLE:
            return [Broken()] if data.strip() else []  # an event without data says nothing
        if found.error is not NULL and is_given(found.error):
            return [Failed(error_of(found.error))]
        match found.type:
            case "content_block_delta":
                return self._delta(found.index, found.delta or shapes.Delta())
            case "content_block_start":
                return self._start(found.index, found.content_block or shapes.Block())
            case "content_block_stop":
                return self._stop(found.index)
            case "message_start":
                message = found.message or shapes.Answer()
                self._usage = anthropic_wire.usage(message.usage)
                return [Begun(message.id, message.model, self._usage)]
            case "message_delta":
                return self._end(found)
            case "message_stop":
                return [Ended()]
            case _:
                return []

    def _start(self, index: int, block: shapes.Block) -> list[Event]:
        match block.type:
            case "text":
                return [Text(block.text)] if block.text else []
            case "thinking":
                return [Thinking(block.thinking)] if block.thinking else []
            case "tool_use":
                number = self._calls[index] = len(self._calls)
                begun = CallBegun(number, block.id, block.name)
                said = bytes(block.input)
                if said not in _NO_INPUT:
                    return [begun, CallDelta(number, said.decode())]  # whole, and not in pieces (G-05)
                self._without_arguments.add(index)
                return [begun]
            case _:
                return []

    def _delta(self, index: int, delta: shapes.Delta) -> list[Event]:
        if delta.text:
            return [Text(delta.text)]
        if delta.partial_json and index in self._calls:
            self._without_arguments.discard(index)
            return [CallDelta(self._calls[index], delta.partial_json)]
        return [Thinking(delta.thinking)] if delta.thinking else []

    def _stop(self, index: int) -> list[Event]:
        if index not in self._without_arguments:
            return []
        self._without_arguments.discard(index)
        return [CallDelta(self._calls[index], "{}")]

    def _end(self, found: shapes.Event) -> list[Event]:
        events: list[Event] = []
        stop_reason = found.delta.stop_reason if found.delta is not None else None
        if stop_reason is not None:
            events.append(Finished(messages_answer.finish_by(stop_reason)))
        later = anthropic_wire.usage(found.usage)
        if later is not None:
            self._usage = later if self._usage is None else anthropic_wire.usage_after(self._usage, later)
            events.append(Counted(self._usage))
        return events


class MessagesWriter:
    """Writes the events of one answer."""

    def __init__(self, expected_input_tokens: int) -> None:
        self._expected_input_tokens = expected_input_tokens
        self._blocks = Blocks()

    def write(self, said: Written) -> list[SseEvent]:
        match said:
            case Text() | Refusal():
                return self._blocks.say(_TEXT, _TEXT_START, said.text)
            case CallDelta():
                return self._blocks.go_on(said.number, said.arguments)
            case Thinking():
                return self._blocks.say(_THINKING, _THINKING_START, said.text)
            case CallBegun():
                start = {"type": "tool_use", "id": said.id, "name": said.name, "input": {}}
                return self._blocks.begin_call(said.number, _CALL, msgspec.json.encode(start))
            case Begun():
                return [self._begin(said)]
            case Failed():
                return [_typed({"type": "error", "error": said.error})]
            case unexpected:
                assert_never(unexpected)

    def end(self, finish: str | None, usage: Usage | None) -> list[SseEvent]:
        delta = {"stop_reason": messages_answer.word_of(finish), "stop_sequence": None}
        closing = {"type": "message_delta", "delta": delta, "usage": messages_answer.usage(usage or Usage())}
        return [*self._blocks.end(), _typed(closing), _typed({"type": "message_stop"})]

    def _begin(self, said: Begun) -> SseEvent:
        """With an estimate of the input where the provider says it at the end only (H-05)."""
        counted = said.usage or Usage(self._expected_input_tokens, 0)
        message: Json = {"id": said.id, "type": "message", "role": "assistant", "model": said.model, "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": messages_answer.usage(counted)}
        return _typed({"type": "message_start", "message": message})


def _typed(fields: Json) -> SseEvent:
    return event(str(fields["type"]).encode(), msgspec.json.encode(fields))
