"""Functions of Responses that share a namespace: other dialects know one name only, so they get a longer one (pure)."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from pointsman.dialects.bridges import custom_tools
from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.reading import Fields, given
from pointsman.domain.value import Leaf

KIND = "namespace"
_BETWEEN = "__"  # as clients join the two themselves where there are no namespaces


class Named(Leaf):
    """A tool as Responses calls it."""

    name: str
    namespace: str = ""
    is_custom: bool = False


def joined(namespace: str, name: str) -> str:
    """The name of a tool elsewhere. Namespaces of MCP servers end with what stands between already."""
    return f"{namespace.removesuffix(_BETWEEN)}{_BETWEEN}{name}" if namespace else name


def flat(tools: Iterable[shapes.Tool]) -> Iterator[shapes.Tool]:
    """All tools, each under its name elsewhere. What a namespace says of itself, each of its tools says."""
    for tool, inner in _with_their_namespaces(tools):
        if inner is None:
            yield tool
        else:
            told = "\n\n".join(filter(None, (tool.description, inner.description))) or None
            yield structs.replace(inner, name=joined(tool.name, inner.name), description=told)


def named_in(asked: Fields) -> Mapping[str, Named]:
    """The tools of a request that are more than functions with a name, by the name that they have elsewhere."""
    tools = given(asked, "tools", shapes.TOOLS)
    found: dict[str, Named] = {}
    for tool, inner in _with_their_namespaces(tools or ()):
        if inner is not None:
            is_custom = inner.type == custom_tools.KIND
            found[joined(tool.name, inner.name)] = Named(inner.name, tool.name, is_custom)
        elif tool.type == custom_tools.KIND:
            found[tool.name] = Named(tool.name, is_custom=True)
    return found


def _with_their_namespaces(tools: Iterable[shapes.Tool]) -> Iterator[tuple[shapes.Tool, shapes.Tool | None]]:
    """Each tool alone, or a namespace with each tool in it."""
    for tool in tools:
        if tool.type == KIND:
            yield from ((tool, inner) for inner in tool.tools)
        else:
            yield tool, None
