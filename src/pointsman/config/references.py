"""`${ENV}`, `${ENV:-default}`, `$${literal}` and `file:/path`: resolved once, in values, never in keys."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath, quoted
from pointsman.config.scalars import VariableText

FILE_PREFIX = "file:"
_MAX_SECRET_BYTES = 64 * 1024  # a private key is 4 KiB; more is the wrong file
# In this order: escaped, well formed, anything else that begins like a reference.
_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{")
_REFERENCE_FIX = "Write ${NAME} or ${NAME:-default}; for a literal ${ write $${."


class _Expansion(Struct):
    """A text with its references replaced, and what was met on the way."""

    text: str = ""
    variables: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    is_malformed: bool = False


def is_secret(path: KeyPath) -> bool:
    """Whether the value at `path` can be a credential: it may come from a file, and is never shown."""
    match path:
        case ("providers", _, "api_key") | ("providers", _, "headers", _) | ("auth", "pepper"):
            return True
        case ("auth", "keys", _, "hash") | ("auth", "admin_token"):
            return True
        case _:
            return False


def variables_in(text: str) -> tuple[str, ...]:
    """The names of the variables that a text of the file refers to."""
    return tuple(match[1] for match in _REFERENCE.finditer(text) if match[1] is not None)


def resolve(document: Document, environ: Mapping[str, str]) -> None:
    """Replace every reference of the file; what cannot be replaced is noted and dropped."""
    for path, text in list(_texts(document.data, ())):
        fault = _overridden(path, text) if document.origin(path) else _replaced(document, path, text, environ)
        if fault is not None:
            document.add(path, *fault)
            document.drop(path)


def _texts(node: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _texts(child, (*path, key))


def _overridden(path: KeyPath, text: str) -> tuple[str, str] | None:
    return _secret_fault(text, ()) if is_secret(path) else None


def _replaced(document: Document, path: KeyPath, text: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Put the resolved text into its place; returns what is wrong with it instead, and the fix."""
    expansion = _expand(text, environ)
    if expansion.is_malformed:
        return "this is not a valid reference", _REFERENCE_FIX
    if expansion.unset:
        name = expansion.unset[0]
        return f"the environment variable {name} is not set", f"Set {name}, or write ${{{name}:-default}}."
    if is_secret(path):
        if text.startswith(FILE_PREFIX):
            return _read_file(document, path, expansion.text.removeprefix(FILE_PREFIX))
        if (fault := _secret_fault(expansion.text, expansion.variables)) is not None:
            return fault
    _put(document, path, text, VariableText(expansion.text) if expansion.variables else expansion.text)
    return None


def _put(document: Document, path: KeyPath, written: str, value: str) -> None:
    if value != written or isinstance(value, VariableText):
        document.written[path] = written
        document.put(path, value)


def _expand(text: str, environ: Mapping[str, str]) -> _Expansion:
    found = _Expansion()

    def value_of(match: re.Match[str]) -> str:
        name, default = match.groups()
        if name is None:
            found.is_malformed = found.is_malformed or match[0] == "${"
            return "${"
        found.variables = (*found.variables, name)
        if name not in environ and default is None:
            found.unset = (*found.unset, name)
        # A line end at the end of a variable comes from the file it was made of. Empty counts as unset, as in a shell.
        return environ.get(name, "").rstrip("\r\n") or default or ""

    found.text = _REFERENCE.sub(value_of, text)
    return found


def _secret_fault(text: str, variables: tuple[str, ...]) -> tuple[str, str] | None:
    if not text:
        names = " and ".join(dict.fromkeys(variables))
        message = f"this secret is empty, because {names} is empty" if names else "this secret is empty"
        return message, f"Give {names or 'it'} a value, or remove the key."
    if text.startswith(FILE_PREFIX):
        return "a variable cannot refer to a file", "Write the `file:` reference into the configuration file itself."
    return None


def _read_file(document: Document, path: KeyPath, name: str) -> tuple[str, str] | None:
    fix = "Write file:/path/to/file, readable for this process, with the secret as its only content."
    if not name.startswith("/"):
        return "a file reference needs an absolute path", fix
    try:
        with Path(name).open("rb") as file:
            text = file.read(_MAX_SECRET_BYTES + 1).decode().rstrip("\r\n")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        return f"cannot read {quoted(name)}: {reason}", fix
    if not text or len(text) > _MAX_SECRET_BYTES:
        return f"{quoted(name)} is {'too large' if text else 'empty'}", fix
    document.written[path] = FILE_PREFIX
    document.put(path, VariableText(text))
    return None
