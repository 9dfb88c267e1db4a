"""YAML text to plain dicts and lists, with the position of every key. Stricter than YAML: see `_Reader`.

Built from parser events, not from a loader's objects, because only that way can depth and size be bounded *before*
anything is built, and every fault of a file be reported at once.
"""

import re
from collections.abc import Iterator
from typing import cast

import yaml
from msgspec import Struct
from yaml.events import AliasEvent, CollectionStartEvent, Event, ScalarEvent, SequenceStartEvent, StreamEndEvent

from pointsman.config.problems import KeyPath, quoted
from pointsman.config.scalars import read_scalar

MAX_NODES = 10_000  # after aliases are expanded; a thousand targets need about 7,000
MAX_DEPTH = 64  # the schema needs 7
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, equal events

_SURROGATE = re.compile("[\ud800-\udfff]")

Spot = tuple[int, int]  # line and column, from 1


class Fault(Struct, frozen=True):
    """Something the text itself has wrong. Path () means that nothing of it could be read."""

    path: KeyPath
    spot: Spot
    message: str
    fix: str


class Tree(Struct, frozen=True):
    """What was read. A mapping entry's spot is its key, a list item's is its first character."""

    data: object
    spots: dict[KeyPath, Spot]
    faults: tuple[Fault, ...] = ()


def parse(text: str) -> Tree:
    """Read one YAML document. Never raises: what cannot be read is a fault."""
    reader = _Reader(text)
    try:
        return reader.read()
    except _UnreadableError as error:
        fault = error.fault
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        fault = Fault((), spot, f"this is not valid YAML: {error.problem or error.context}", _SYNTAX_FIX)
    except (yaml.YAMLError, UnicodeError):
        fault = Fault((), (1, 1), "this is not valid YAML: it has a character that YAML forbids", _SYNTAX_FIX)
    return Tree({}, {}, (fault,))


_SYNTAX_FIX = "Check the indentation, and quote text with a special character, such as ${NAME} between braces."


class _UnreadableError(Exception):
    """Carries the fault that ends the reading."""

    def __init__(self, event: Event, message: str, fix: str) -> None:
        super().__init__(message)
        self.fault = Fault((), _spot(event), message, fix)


class _Node(Struct):
    """A scalar's value, or children by key; `size` counts the nodes below and itself, aliases expanded."""

    spot: Spot
    value: object = None
    entries: list[tuple[str, Spot, "_Node"]] | None = None
    items: list["_Node"] | None = None
    size: int = 1


class _Reader:
    """Refuses duplicate and non-text keys, merge keys, tags, second documents, deep nesting and alias bombs."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, _Node] = {}
        self._nodes = 0
        self._spots: dict[KeyPath, Spot] = {}
        self._faults: list[Fault] = []

    def read(self) -> Tree:
        self._next()  # stream start
        if isinstance(self._next(), StreamEndEvent):
            return Tree({}, {})
        root = self._node(self._next(), 0)
        self._next()  # document end
        if not isinstance(event := self._next(), StreamEndEvent):
            raise _UnreadableError(event, "there is a second document", "Keep one document: remove the line `---`.")
        data = self._plain(root, ())
        return Tree({} if data is None else data, self._spots, tuple(self._faults))

    def _next(self) -> Event:
        return next(self._events)

    def _node(self, event: Event, depth: int) -> _Node:
        if isinstance(event, AliasEvent):
            return self._alias(event)
        return self._anchored(cast("ScalarEvent | CollectionStartEvent", event), depth)

    def _anchored(self, event: ScalarEvent | CollectionStartEvent, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            raise _UnreadableError(event, f"nested deeper than {MAX_DEPTH} levels", "Remove the surplus brackets.")
        if event.tag is not None:
            raise _UnreadableError(event, "tags are not supported", "Remove the `!...`; put text in quotes.")
        self._count(event, 1)
        node = self._children(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node  # only now: an anchor cannot contain itself
        return node

    def _alias(self, event: AliasEvent) -> _Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:  # its name is not shown: it may be the beginning of a secret written without quotes
            fix = "Define the anchor above its use, or quote text that begins with `*`."
            raise _UnreadableError(event, "this alias has no anchor", fix)
        self._count(event, node.size)
        return node

    def _count(self, event: Event, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            message = f"more than {MAX_NODES:,} values, aliases expanded"
            raise _UnreadableError(event, message, "Split the deployment, or remove aliases of aliases.")

    def _children(self, event: ScalarEvent | CollectionStartEvent, depth: int) -> _Node:
        before = self._nodes
        node = _Node(_spot(event))
        if isinstance(event, ScalarEvent):
            node.value = read_scalar(event.value) if event.implicit[0] else event.value
        elif isinstance(event, SequenceStartEvent):
            node.items = list(self._items(depth))
        else:
            node.entries = list(self._entries(depth))
        node.size = 1 + self._nodes - before
        return node

    def _items(self, depth: int) -> Iterator[_Node]:
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> Iterator[tuple[str, Spot, _Node]]:
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, ScalarEvent) or event.tag is not None or event.anchor is not None:
                raise _UnreadableError(event, "a key must be plain text", "Put it in quotes.")
            if _SURROGATE.search(event.value):  # the C parser refuses it itself
                raise _UnreadableError(event, "a key must be valid Unicode text", "Write it again, in UTF-8.")
            yield event.value, _spot(event), self._node(self._next(), depth + 1)

    def _plain(self, node: _Node, path: KeyPath) -> object:
        if node.items is not None:
            for index, item in enumerate(node.items):
                self._spots[*path, index] = item.spot
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.items)]
        if node.entries is None:
            return node.value
        data: dict[str, object] = {}
        for key, spot, child in node.entries:
            place = (*path, key)
            if key == "<<":
                self._faults.append(Fault(place, spot, "merge keys are not supported", "Write the keys out."))
            elif key in data:
                line = self._spots[place][0]
                fix = f"Keep one of the two; the other is in line {line}."
                self._faults.append(Fault(place, spot, f"the key {quoted(key)} is there twice", fix))
            else:
                self._spots[place] = spot
                data[key] = self._plain(child, place)
        return data


def _spot(event: Event) -> Spot:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
