"""Tools of Responses, wherever a request offers them, under the names that they have in other dialects (pure).

There each has one name, so a tool in a namespace gets a longer one.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from pointsman.dialects.bridges import custom_tools, tool_search
from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.reading import Fields, given
from pointsman.dialects.bridges.responses_kinds import CUSTOM, FUNCTION, SEARCH, Kind
from pointsman.domain.octets import holds
from pointsman.domain.value import Leaf

NAMESPACE = "namespace"
ADDED = "additional_tools"  # an item of the conversation that offers more, as the result of a search does
_OFFERING = (ADDED, tool_search.RESULT)
_BETWEEN = "__"  # as clients join the two themselves where there are no namespaces


class Named(Leaf):
    """A tool as Responses calls it."""

    name: str
    namespace: str = ""
    kind: Kind = FUNCTION  # of the items that call it


def joined(namespace: str, name: str) -> str:
    """The name of a tool elsewhere. Namespaces of MCP servers end with what stands between already."""
    return f"{namespace.removesuffix(_BETWEEN)}{_BETWEEN}{name}" if namespace else name


def offered(tools: Iterable[shapes.Tool], items: Iterable[shapes.Item]) -> Iterator[shapes.Tool]:
    """All tools of a request, each once, under its name elsewhere."""
    names: set[str] = set()
    for tool, namespace in _all(tools, items):
        name = joined(namespace.name, tool.name) if namespace is not None else tool.name
        if not name or name not in names:
            names.add(name)
            yield tool if namespace is None else structs.replace(tool, name=name, description=_told(tool, namespace))


def names_of(tools: Iterable[shapes.Tool]) -> list[str]:
    """As the model knows them."""
    return [tool.name for tool in offered(tools, ()) if tool.name]


def named_in(asked: Fields) -> Mapping[str, Named]:
    """The tools of a request that are more than functions with a name, by the name that they have elsewhere."""
    tools = given(asked, "tools", shapes.TOOLS)
    found: dict[str, Named] = {}
    for tool, namespace in _all(tools or (), _items(asked)):
        kind = CUSTOM if tool.type == custom_tools.KIND else FUNCTION
        if namespace is not None:
            found.setdefault(joined(namespace.name, tool.name), Named(tool.name, namespace.name, kind))
        elif kind is CUSTOM:
            found.setdefault(tool.name, Named(tool.name, kind=CUSTOM))
        elif tool_search.is_the_clients(tool):
            found[tool_search.NAME] = Named(tool_search.NAME, kind=SEARCH)
    return found


def _items(asked: Fields) -> list[shapes.Item]:
    """Conversations are long, and few of them offer anything."""
    said = bytes(asked.get("input", b""))
    if not any(holds(said, b'"%b"' % kind.encode()) for kind in _OFFERING):
        return []
    items = given(asked, "input", shapes.INPUT)
    return items if isinstance(items, list) else []


def _all(
    tools: Iterable[shapes.Tool], items: Iterable[shapes.Item]
) -> Iterator[tuple[shapes.Tool, shapes.Tool | None]]:
    """Each tool, and the namespace that it is in."""
    yield from _in_namespaces(tools)
    for item in items:
        if item.type in _OFFERING:
            yield from _in_namespaces(item.tools)


def _in_namespaces(tools: Iterable[shapes.Tool]) -> Iterator[tuple[shapes.Tool, shapes.Tool | None]]:
    for tool in tools:
        if tool.type == NAMESPACE:
            yield from ((inner, tool) for inner in tool.tools)
        else:
            yield tool, None


def _told(tool: shapes.Tool, namespace: shapes.Tool) -> str | None:
    """What a namespace says of itself, each of its tools says."""
    return "\n\n".join(filter(None, (namespace.description, tool.description))) or None
