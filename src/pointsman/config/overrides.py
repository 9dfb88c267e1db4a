"""Values from environment variables and the command line, laid over those of the file."""

import re
from collections.abc import Mapping

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.references import is_secret
from pointsman.config.scalars import VariableText
from pointsman.config.yaml_tree import parse

PREFIX = "POINTSMAN__"  # POINTSMAN__SERVER__LISTEN is server.listen
COMMAND_LINE = "command line"


def apply_environment(document: Document, environ: Mapping[str, str]) -> None:
    """Every variable that begins with PREFIX; whole sections before single keys."""
    names = [name for name in environ if name.upper().startswith(PREFIX)]
    for name in sorted(names, key=lambda name: (name.count("__"), name)):
        _apply(document, name, name[len(PREFIX) :].split("__"), environ[name])


def apply_command_line(document: Document, overrides: Mapping[str, object]) -> None:
    """Options by dotted path, e.g. `server.listen`."""
    for name, value in overrides.items():
        _apply(document, COMMAND_LINE, name.split("."), value)


def _apply(document: Document, origin: str, segments: list[str], value: object) -> None:
    if not "".join(segments).isascii():  # also bytes that are no UTF-8, which pydantic would name differently
        named: KeyPath = tuple(map(_in_ascii, segments))
        fix = "Set the value in the file instead."
        _refuse(document, _in_ascii(origin), named, "the name has a character outside of ASCII", fix)
        return
    path = _path(document, origin, segments)
    if path is None:
        return
    holder = _holder(document, origin, path)
    if holder is None:
        _refuse(document, origin, path, "the file has no such place", "Name a key of the file by all its levels.")
    elif value is not None and not isinstance(value, str | int | float):
        _refuse(document, origin, path, "an option sets one value", "Write lists and sections as text, e.g. [a, b].")
    else:
        for replaced in [known for known in document.origins if known[: len(path)] == path]:
            del document.origins[replaced]
        document.origins[path] = origin
        document.put(path, _parsed(document, path, value))


def _refuse(document: Document, origin: str, path: KeyPath, message: str, fix: str) -> None:
    document.origins[path] = origin
    document.add(path, message, fix)


def _path(document: Document, origin: str, segments: list[str]) -> KeyPath | None:
    """Names as the file spells them: a variable can carry neither their case nor most of their punctuation."""
    path: KeyPath = ()
    for segment in segments:
        node = document.value(path)
        names = list(node) if isinstance(node, dict) else []
        matches = [segment] if segment in names else [name for name in names if _folded(name) == _folded(segment)]
        if len(matches) > 1:
            message = f"the name fits {' and '.join(sorted(matches))}"
            _refuse(document, origin, (*path, segment), message, "Set the value in the file instead.")
            return None
        if isinstance(node, list) and re.fullmatch("[0-9]{1,5}", segment):
            path = (*path, int(segment))
        else:
            path = (*path, matches[0] if matches else segment.lower())
    return path


def _in_ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def _holder(document: Document, origin: str, path: KeyPath) -> object:
    """What contains the value at `path`, made where it is missing; None: there is no place for the value."""
    for length in range(1, len(path)):
        holder = document.value(path[: length - 1])
        if isinstance(holder, dict) and holder.get(path[length - 1]) is None:
            holder[path[length - 1]] = {}
            document.origins[path[:length]] = origin
    holder = document.value(path[:-1])
    if isinstance(holder, list):
        return holder if isinstance(path[-1], int) and path[-1] < len(holder) else None
    return holder if isinstance(holder, dict) else None


def _parsed(document: Document, path: KeyPath, value: str | float | None) -> object:
    if not isinstance(value, str):
        return value
    text = value.rstrip("\r\n")
    is_flow = (text[:1], text[-1:]) in (("[", "]"), ("{", "}"))  # not `[::1]:4000`
    if not is_flow or is_secret(path):
        return VariableText(text)
    tree = parse(text)
    for fault in tree.faults:
        document.add(path, fault.message, fault.fix)
    return tree.data
