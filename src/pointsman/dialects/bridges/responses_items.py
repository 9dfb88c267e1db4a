"""Items of an answer of Responses, which grow until they are closed (pure)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from pointsman.dialects.bridges import custom_tools, tool_search
from pointsman.dialects.bridges.neutral import Call
from pointsman.dialects.bridges.offered_tools import Named
from pointsman.dialects.bridges.responses_kinds import CUSTOM, FUNCTION, NOTHING, SEARCH, Kind

Json = dict[str, Any]


class Item:
    """One item; `index`: its place in the output."""

    def __init__(self, kind: Kind, answer_id: str, index: int, fields: Mapping[str, Any] = NOTHING) -> None:
        self.kind = kind
        self._fields = {"id": f"{kind.id_prefix}_{answer_id}_{index}", "type": kind.type, **kind.fields, **fields}
        self._index = index
        self._pieces: list[str] = []
        self.place: Json = {"item_id": self._fields["id"], "output_index": index, **kind.at}
        begins = {"type": f"response.{kind.said}.delta", **self.place, **kind.more}
        self.delta_head = msgspec.json.encode(begins)[:-1]

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    @property
    def said(self) -> str:
        """All of it; a call without arguments has an empty object of them."""
        text = "".join(self._pieces)
        if self.kind is CUSTOM:
            return custom_tools.input_in(text)
        return text or "{}" if self.kind is FUNCTION else text

    @property
    def is_silent(self) -> bool:
        """Whether nothing of it has been on its way: a text within an object is known at its end."""
        return not self._pieces or self.kind in {CUSTOM, SEARCH}

    def placed(self, item: Json) -> Json:
        """The fields of an event about the item as such."""
        return {"output_index": self._index, "item": item}

    def begun(self) -> Json:
        kind = self.kind
        content: Json = {kind.place: []} if kind.place else {kind.word: {} if kind is SEARCH else ""}
        return {**self._fields, "status": "in_progress", **content}

    def whole(self) -> Json:
        kind, said = self.kind, self.said
        whole = tool_search.arguments_in(said) if kind is SEARCH else said
        content: Json = {kind.place: [self.part(said)]} if kind.place else {kind.word: whole}
        return {**self._fields, "status": "completed", **content}

    def part(self, said: str) -> Json:
        return {**self.kind.part_fields, self.kind.word: said}


def item_of(call: Call, answer_id: str, index: int, named: Mapping[str, Named]) -> Item:
    """A call, with nothing said of its arguments. `named`: tools that are more than functions with a name."""
    tool = named.get(call.name) or Named(call.name)
    name = NOTHING if tool.kind is SEARCH else {"name": tool.name}
    place = {"namespace": tool.namespace} if tool.namespace else NOTHING
    return Item(tool.kind, answer_id, index, {"call_id": call.id, **name, **place})
