"""The value of every key as it holds, and where it comes from: `pointsman config show`."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from pydantic_core import to_jsonable_python

from pointsman.config import rules
from pointsman.config.document import Document
from pointsman.config.load import read_document
from pointsman.config.problems import KeyPath, dotted
from pointsman.config.references import is_secret, variables_in
from pointsman.config.schema import Section
from pointsman.config.schema_errors import validate

HIDDEN = "***"
DEFAULT = "default"


class Effective(Struct, frozen=True):
    """One key."""

    key: str  # with all of its levels
    value: object  # as the file could write it; HIDDEN: a secret
    origin: str  # `file:line` and the variables named there, the variable that overrides it, or DEFAULT


def effective(path: Path, environ: Mapping[str, str]) -> list[Effective]:
    """All keys, in the order of the documents. Raises ConfigError with all problems of the file."""
    document = read_document(path, environ)
    config = validate(document)
    rules.check(document, config)
    document.raise_problems()
    return [_found(document, place, value) for place, value in _leaves(config, ())]


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """What is no section, and holds none."""
    if isinstance(value, Section):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), (*path, name))
    elif isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _leaves(child, (*path, key))
    elif isinstance(value, list) and any(isinstance(each, Section) for each in value):
        for index, child in enumerate(value):
            yield from _leaves(child, (*path, index))
    else:
        yield path, value


def _found(document: Document, path: KeyPath, value: object) -> Effective:
    is_given = _is_given(document, path)
    shown = to_jsonable_python(document.value(path) if is_given else value, fallback=str)
    if value is not None and _may_be_secret(path):
        shown = HIDDEN
    return Effective(dotted(path), shown, _origin(document, path) if is_given else DEFAULT)


def _may_be_secret(path: KeyPath) -> bool:
    """Also what only a plugin understands."""
    return is_secret(path) or (path[:1] == ("models",) and path[2:4] == ("plugin", "options"))


def _is_given(document: Document, path: KeyPath) -> bool:
    holder = document.value(path[:-1])
    return path[-1] in holder if isinstance(holder, dict) else isinstance(holder, list)


def _origin(document: Document, path: KeyPath) -> str:
    """Of a value that is given: the nearest place that is known, as parts of a list have none of their own."""
    if (variable := document.origin(path)) is not None:
        return variable
    known = (path[:length] for length in range(len(path), 0, -1))
    line = next((document.spots[place][0] for place in known if place in document.spots), 1)
    names = variables_in(document.written.get(path, ""))
    return f"{document.source}:{line}{''.join(f' ${name}' for name in names)}"
