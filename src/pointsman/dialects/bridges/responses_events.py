"""Streamed answers of Responses, from and to neutral events (pure)."""

from typing import Any, assert_never

import msgspec

from pointsman.dialects import responses_wire as wire
from pointsman.dialects.bridges import responses_answer
from pointsman.dialects.bridges import responses_shapes as shapes
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
from pointsman.dialects.bridges.neutral import Call, Refusal, Text, Thinking
from pointsman.dialects.bridges.offered_tools import named_in
from pointsman.dialects.bridges.reading import Fields
from pointsman.dialects.bridges.responses_items import Item, item_of
from pointsman.dialects.bridges.responses_kinds import KINDS
from pointsman.dialects.provider_error import UNREADABLE, error_of, is_given
from pointsman.dialects.sse import SseEvent
from pointsman.domain.outcome import Usage

Json = dict[str, Any]


class ResponsesReader:
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self._has_begun = False
        self._calls: dict[int, int] = {}  # index of the item -> number of the call (G-01)
        self._said: set[tuple[int, int]] = set()  # items, and parts of them, that came in pieces
        self._thinking = ""  # the kind of event that tells thoughts: some engines say them twice

    def read(self, data: bytes) -> list[Event]:
        try:
            found = shapes.read_event(data)
        except UNREADABLE:
            return [Broken()] if data.strip() else []  # an event without data says nothing
        if self._has_begun:
            return self._events(found, data)
        begun = _answer(found)
        self._has_begun = True
        return [Begun(begun.id, begun.model), *self._events(found, data)]

    def _events(self, found: shapes.Event, data: bytes) -> list[Event]:
        if is_given(found.error):
            return [Failed(error_of(found.error))]
        match found.type:
            case "response.output_text.delta" | "response.refusal.delta":
                self._said.add((found.output_index, found.content_index))
                return _text(found.type, found.delta)
            case "response.output_text.done" | "response.refusal.done":
                is_said = (found.output_index, found.content_index) in self._said
                return [] if is_said else _text(found.type, found.text or found.refusal)
            case "response.function_call_arguments.delta":
                return self._arguments(found.output_index, found.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thought(found)
            case "response.reasoning_summary_part.added" if found.summary_index:
                return [Thinking("\n\n")]
            case "response.output_item.added" | "response.output_item.done" if found.item is not None:
                return self._item(found.output_index, found.item, is_done=found.type.endswith("done"))
            case "response.completed" | "response.incomplete" | "response.failed":
                return _end(found)
            case "error":
                return [Failed(wire.error_of_event(data))]
            case _:
                return []

    def _thought(self, found: shapes.Event) -> list[Event]:
        self._thinking = self._thinking or found.type
        return [Thinking(found.delta)] if found.delta and found.type == self._thinking else []

    def _item(self, index: int, item: shapes.Item, *, is_done: bool) -> list[Event]:
        if item.type != "function_call":
            return []
        found: list[Event] = []
        if index not in self._calls:
            self._calls[index] = len(self._calls)
            found.append(CallBegun(self._calls[index], item.call_id, item.name))
        if (index, 0) not in self._said:  # whole, and not in pieces (G-05)
            found += self._arguments(index, item.call or ("{}" if is_done else ""))
        return found

    def _arguments(self, index: int, piece: str) -> list[Event]:
        if not piece or index not in self._calls:
            return []
        self._said.add((index, 0))
        return [CallDelta(self._calls[index], piece)]


def _text(type_: str, said: str) -> list[Event]:
    if not said:
        return []
    return [Text(said) if type_.startswith("response.output_text") else Refusal(said)]


def _answer(found: shapes.Event) -> shapes.Answer:
    try:
        return shapes.read_answer(found.response)
    except UNREADABLE:
        return shapes.Answer()


def _end(found: shapes.Event) -> list[Event]:
    """A terminal event: with an error it is a failure, whatever it is called (D-07)."""
    try:
        response = wire.read_response(found.response)
    except UNREADABLE:
        response = wire.Response()
    status = response.status = found.type.removeprefix("response.")
    error = wire.error_in(response)
    if error is not None:
        return [Failed(error)]
    answer = _answer(found)
    answer.status = status
    usage = wire.usage(answer.usage)
    counted: list[Event] = [] if usage is None else [Counted(usage)]
    return [Finished(responses_answer.finish_by(answer)), *counted, Ended()]


class ResponsesWriter:
    """Writes the events of one answer, numbered from 0 on.

    Unlike blocks of Messages several calls may be open at once; texts and thoughts end where anything else begins.
    """

    def __init__(self, created_s: int, asked: Fields) -> None:
        self._created_s, self._asked = created_s, asked
        self._named = named_in(asked)
        self._number = 0  # of the next event
        self._response: Json = {}
        self._items: list[Item] = []
        self._open: Item | None = None  # text or thoughts that go on
        self._calls: dict[int, Item] = {}

    def write(self, event: Written) -> list[SseEvent]:
        match event:
            case Text() | Thinking() | Refusal():
                return self._say(event)
            case CallDelta():
                return self._piece(self._calls[event.number], event.arguments)
            case CallBegun():
                return self._call(event)
            case Begun():
                self._response = responses_answer.opening(event.id, event.model, self._created_s, self._asked)
                return [self._about("created"), self._about("in_progress")]
            case Failed():
                return [self._event("error", {"error": event.error})]
            case unexpected:
                assert_never(unexpected)

    def end(self, finish: str | None, usage: Usage | None) -> list[SseEvent]:
        found = self._closed_text()
        for call in self._calls.values():
            found += self._closed(call)
        self._response |= responses_answer.closing(self._items, finish, usage)
        return [*found, self._about(self._response["status"])]

    def _say(self, said: Text | Thinking | Refusal) -> list[SseEvent]:
        kind = KINDS[type(said)]
        if self._open is not None and self._open.kind is kind:
            return self._piece(self._open, said.text)  # the usual case
        found = self._closed_text()
        item = self._open = Item(kind, self._answer_id, len(self._items))
        found += self._begun(item)
        added = {**item.place, "part": item.part("")}
        found.append(self._event(f"response.{kind.part}.added", added))
        return found + self._piece(item, said.text)

    def _call(self, begun: CallBegun) -> list[SseEvent]:
        found = self._closed_text()
        item = item_of(Call(begun.id, begun.name, ""), self._answer_id, len(self._items), self._named)
        self._calls[begun.number] = item
        return found + self._begun(item)

    def _piece(self, item: Item, piece: str) -> list[SseEvent]:
        item.add(piece)
        return [] if item.is_silent else [self._delta(item, piece)]

    def _begun(self, item: Item) -> list[SseEvent]:
        self._items.append(item)
        return [self._event("response.output_item.added", item.placed(item.begun()))]

    def _closed_text(self) -> list[SseEvent]:
        item, self._open = self._open, None
        return [] if item is None else self._closed(item)

    def _closed(self, item: Item) -> list[SseEvent]:
        kind, said = item.kind, item.said
        found = [self._delta(item, said)] if kind.said and item.is_silent else []
        if kind.said:
            found.append(self._event(f"response.{kind.said}.done", {**item.place, **kind.more, kind.word: said}))
        if kind.part:
            found.append(self._event(f"response.{kind.part}.done", {**item.place, "part": item.part(said)}))
        return [*found, self._event("response.output_item.done", item.placed(item.whole()))]

    @property
    def _answer_id(self) -> str:
        return str(self._response["id"])

    def _about(self, what: str) -> SseEvent:
        return self._event(f"response.{what}", {"response": self._response})

    def _delta(self, item: Item, piece: str) -> SseEvent:
        said = msgspec.json.encode(piece)
        data = b'%b,"sequence_number":%d,"delta":%b}' % (item.delta_head, self._number, said)
        return self._numbered(f"response.{item.kind.said}.delta", data)

    def _event(self, type_: str, fields: Json) -> SseEvent:
        data = msgspec.json.encode({"type": type_, "sequence_number": self._number, **fields})
        return self._numbered(type_, data)

    def _numbered(self, type_: str, data: bytes) -> SseEvent:
        self._number += 1
        return SseEvent(b"event: %b\ndata: %b\n\n" % (type_.encode(), data), data)
