"""Whether a value is what a JSON Schema asks for, by the keywords that tools are described with (pure).

What is not known here is no reason against a value: a keyword that is not listed, a reference that leads nowhere, a
schema that is none. So a mismatch is one, and the rest is for the tool to say.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Json = Any

_MAX_STEPS = 10_000  # a schema may refer to itself
_MAX_DEPTH = 64


def fits(value: Json, schema: Json) -> bool:
    """True also where nothing can be said."""
    return _Check(schema).fits(value, schema, 0)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Json], bool]] = MappingProxyType(
    {
        "object": lambda value: isinstance(value, dict),
        "array": lambda value: isinstance(value, list),
        "string": lambda value: isinstance(value, str),
        "boolean": lambda value: isinstance(value, bool),
        "null": lambda value: value is None,
        "number": _is_number,
        "integer": lambda value: _is_number(value) and float(value).is_integer(),
    }
)
_LIMITS: Mapping[str, Callable[[Json, Json], bool]] = MappingProxyType(  # of numbers; then of lengths
    {
        "minimum": lambda value, limit: value >= limit,
        "maximum": lambda value, limit: value <= limit,
        "exclusiveMinimum": lambda value, limit: value > limit,
        "exclusiveMaximum": lambda value, limit: value < limit,
    }
)
_LENGTHS: Mapping[str, tuple[type, Callable[[int, Json], bool]]] = MappingProxyType(
    {
        "minLength": (str, lambda length, limit: length >= limit),
        "maxLength": (str, lambda length, limit: length <= limit),
        "minItems": (list, lambda length, limit: length >= limit),
        "maxItems": (list, lambda length, limit: length <= limit),
    }
)


class _Check:
    """One value against one schema, within a bounded number of steps."""

    def __init__(self, root: Json) -> None:
        self._root, self._steps = root, 0

    def fits(self, value: Json, schema: Json, depth: int) -> bool:
        self._steps += 1
        if schema is False:
            return False
        if not isinstance(schema, dict) or self._steps > _MAX_STEPS or depth > _MAX_DEPTH:
            return True
        if value is None and schema.get("nullable") is True:  # of OpenAPI
            return True
        return (
            _has_type(value, schema.get("type"))
            and _is_listed(value, schema)
            and _is_within(value, schema)
            and self._has_members(value, schema, depth)
            and self._has_items(value, schema, depth)
            and self._combines(value, schema, depth)
        )

    def _has_members(self, value: Json, schema: Mapping[str, Json], depth: int) -> bool:
        if not isinstance(value, dict):
            return True
        required, known = schema.get("required"), schema.get("properties")
        properties = known if isinstance(known, dict) else {}
        if isinstance(required, list) and any(isinstance(name, str) and name not in value for name in required):
            return False
        if not all(self.fits(value[name], each, depth + 1) for name, each in properties.items() if name in value):
            return False
        others = schema.get("additionalProperties", True)
        if others is True or "patternProperties" in schema:
            return True
        return all(self.fits(each, others, depth + 1) for name, each in value.items() if name not in properties)

    def _has_items(self, value: Json, schema: Mapping[str, Json], depth: int) -> bool:
        items = schema.get("items", True)
        if not isinstance(value, list) or not isinstance(items, dict | bool) or "prefixItems" in schema:
            return True
        return all(self.fits(each, items, depth + 1) for each in value)

    def _combines(self, value: Json, schema: Mapping[str, Json], depth: int) -> bool:
        if "$ref" in schema and not self.fits(value, self._referred(schema["$ref"]), depth + 1):
            return False
        every, some, one = schema.get("allOf"), schema.get("anyOf"), schema.get("oneOf")
        if isinstance(every, list) and not all(self.fits(value, each, depth + 1) for each in every):
            return False
        return all(
            any(self.fits(value, each, depth + 1) for each in choices)
            for choices in (some, one)
            if isinstance(choices, list) and choices
        )

    def _referred(self, reference: Json) -> Json:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        found = self._root
        for part in reference[1:].split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                return True
            found = found[name]
        return found


def _has_type(value: Json, wanted: Json) -> bool:
    names: Sequence[Json] = wanted if isinstance(wanted, list) else (wanted,)
    tests = [_TYPES.get(name) if isinstance(name, str) else None for name in names]
    return not tests or None in tests or any(test(value) for test in tests if test is not None)


def _is_listed(value: Json, schema: Mapping[str, Json]) -> bool:
    listed = schema.get("enum")
    if isinstance(listed, list) and not any(_is_same(value, each) for each in listed):
        return False
    return "const" not in schema or _is_same(value, schema["const"])


def _is_same(value: Json, other: Json) -> bool:
    """1 is 1.0, and no truth value."""
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)


def _is_within(value: Json, schema: Mapping[str, Json]) -> bool:
    if _is_number(value):
        limits = [(test, schema.get(name)) for name, test in _LIMITS.items()]
        return all(test(value, limit) for test, limit in limits if _is_number(limit))
    return not isinstance(value, str | list) or all(
        test(len(value), schema[name])
        for name, (kind, test) in _LENGTHS.items()
        if isinstance(value, kind) and _is_number(schema.get(name))
    )
