"""Checks a document against the schema and says in plain words what does not fit. No message shows a value."""

from collections.abc import Mapping
from types import UnionType
from typing import TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath, nearest, quoted
from pointsman.config.schema import ConfigFile, TimeoutsSection

_KEY_MARKER = "[key]"  # pydantic's way to say that the key itself is at fault

_AUTH_FIX = (
    "Write `auth: {mode: keys}` and make a key with `pointsman keys create`; or write `auth: {mode: none}`, which "
    "serves everyone who can reach the port, and so is accepted on loopback addresses only."
)
# What pydantic calls it -> what must be there, and what to write.
_TYPE_TEXT: Mapping[str, tuple[str, str]] = {
    "model_type": ("must consist of `key: value` pairs", "Indent its keys below it, or remove it for the defaults."),
    "dict_type": ("must consist of `key: value` pairs", "Indent its keys below it, or write {}."),
    "list_type": ("must be a list", "Write [one, two], or one `- item` per line."),
    "string_type": ("must be text", "Put it in quotes."),
    "string_unicode": ("must be valid UTF-8 text", "Write it again, in UTF-8."),
    "bool_type": ("must be true or false", "Write true or false; yes, no, on and off are text."),
    "int_type": ("must be a whole number", "Write digits, without quotes and without a leading zero."),
    "float_type": ("must be a number", "Write digits, without quotes and without a leading zero."),
    "finite_number": ("must be a finite number", "Write a plain number."),
}
_BOUND_TEXT: Mapping[str, tuple[str, str, str]] = {
    "greater_than_equal": ("ge", "must be at least", "Write a larger number."),
    "less_than_equal": ("le", "must be at most", "Write a smaller number."),
}
_MISSING_FIX: Mapping[KeyPath, str] = {
    ("version",): "Write `version: 1`.",
    ("auth",): _AUTH_FIX,
    ("mode",): _AUTH_FIX,
    ("hash",): "Add the one that `pointsman keys create` prints.",
}
_PLACEHOLDERS: Mapping[KeyPath, object] = {("version",): 1, ("auth",): {"mode": "none"}}

_File = TypeVar("_File", bound=BaseModel)


def validate(document: Document) -> ConfigFile:
    """A configuration, see `fitted`."""
    return fitted(document, ConfigFile)


def fitted(document: Document, schema: type[_File]) -> _File:
    """Note every misfit and drop what misfits, until the rest is valid, so that it can be checked further.

    Every key that the schema wants at the top has a placeholder, or there would be nothing to go on with.
    """
    while True:
        try:
            return schema.model_validate(document.data)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
        faulty = [(_path(detail), detail) for detail in details]
        for path, detail in faulty:
            document.add(path, *_text(document, path, detail, schema))
        for path, detail in faulty:
            _drop(document, path, is_missing=detail["type"] == "missing")


def _path(detail: ErrorDetails) -> KeyPath:
    location = detail["loc"]
    return location[:-1] if location[-1:] == (_KEY_MARKER,) else location


def _drop(document: Document, path: KeyPath, *, is_missing: bool) -> None:
    if is_missing and path in _PLACEHOLDERS:
        document.closed.add(path)
        document.data[str(path[0])] = _PLACEHOLDERS[path]
    else:
        document.drop(path[:-1] if is_missing else path)


def _text(document: Document, path: KeyPath, detail: ErrorDetails, schema: type[BaseModel]) -> tuple[str, str]:
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(path, schema)
        case "missing":
            fix = _MISSING_FIX.get(path[-1:], f"Add `{path[-1]}: ...`, see the documented example.")
            return "is missing", fix
        case "literal_error" | "enum":
            return _not_a_choice(document, path, detail["ctx"]["expected"])
        case "greater_than_equal" | "less_than_equal" as bound:
            key, message, fix = _BOUND_TEXT[bound]
            return f"{message} {detail['ctx'][key]:,}", fix
        case "value_error":
            refusal = detail["ctx"]["error"]  # a BadValueError of values.py
            return refusal.message, refusal.fix
        case kind:
            return _wrong_type(path, kind)


def _wrong_type(path: KeyPath, kind: str) -> tuple[str, str]:
    message, fix = _TYPE_TEXT[kind]
    if path == ("auth",):
        return message, _AUTH_FIX
    if path[-2:-1] == ("targets",):
        return message, "Write {model: provider/model} or {provider: ..., model_ref: ...}."
    return message, fix


def _not_a_choice(document: Document, path: KeyPath, expected: str) -> tuple[str, str]:
    names = [name.strip("' ") for name in expected.replace(" or ", ",").split(",")]
    value = document.value(path)
    message = f"must be one of: {', '.join(names)}"
    if path == ("auth", "mode"):
        return message, _AUTH_FIX
    fix = nearest(value if isinstance(value, str) else "", names, otherwise=f"Write {names[0]}.")
    return message, fix


def _unknown_key(path: KeyPath, schema: type[BaseModel]) -> tuple[str, str]:
    key = str(path[-1])
    if path[-2:-1] == ("timeouts",) and key in TimeoutsSection.model_fields:
        return f"{quoted(key)} limits the whole request, not one attempt", "Move it to the top-level `timeouts`."
    return f"unknown key {quoted(key)}", nearest(key, _section_at(path[:-1], schema).model_fields)


def _section_at(path: KeyPath, schema: type[BaseModel]) -> type[BaseModel]:
    """The section that the schema has at `path`; callers name a path that has one."""
    current: object = schema
    for key in path:
        if get_origin(current) in (dict, list):
            current = get_args(current)[-1]
        else:
            current = cast("type[BaseModel]", current).model_fields[str(key)].annotation
        if get_origin(current) is UnionType:
            current = get_args(current)[0]  # a section or nothing
    return cast("type[BaseModel]", current)
