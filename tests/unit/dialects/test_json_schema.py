"""Values against schemas, as far as the keywords are known."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.dialects.json_schema import fits

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, "a", 1),
        ({"type": "integer"}, 1.0, 1.5),
        ({"type": "integer"}, 10**30, True),
        ({"type": "number"}, 1.5, False),
        ({"type": "boolean"}, True, 1),
        ({"type": "null"}, None, 0),
        ({"type": "array"}, [], {}),
        ({"type": ["string", "null"]}, None, 1),
        ({"type": "string", "nullable": True}, None, 1),
        ({"enum": ["a", 1]}, 1.0, True),
        ({"const": "a"}, "a", "b"),
        (CITY, {"city": "Rome", "more": 1}, {}),
        (CITY, {"city": "Rome"}, {"city": 1}),
        ({**CITY, "additionalProperties": False}, {"city": "Rome"}, {"city": "Rome", "more": 1}),
        ({"additionalProperties": {"type": "string"}}, {"a": "b"}, {"a": 1}),
        ({"items": {"type": "string"}, "minItems": 1, "maxItems": 2}, ["a"], [1]),
        ({"minItems": 1}, [1], []),
        ({"maxItems": 1}, [1], [1, 2]),
        ({"minLength": 2, "maxLength": 3}, "ab", "a"),
        ({"minimum": 1, "maximum": 2}, 2, 3),
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, 1.5, 1),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "a", 1),
        ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, "a", "ab"),
        (TREE, {"next": {"next": {}}}, {"next": {"next": 1}}),
        ({"properties": {"a": False}}, {"b": 1}, {"a": 1}),
    ],
)
def test_a_mismatch_is_told_from_a_match(schema: Any, good: Any, bad: Any) -> None:
    assert fits(good, schema)
    assert not fits(bad, schema)


@pytest.mark.parametrize(
    "schema",
    [
        None, True, {}, "x", {"type": "date"}, {"type": None}, {"type": [1]}, {"pattern": "^b"}, {"required": "city"},
        {"$ref": "https://example.com/s"}, {"$ref": "#/nowhere"}, {"enum": 1}, {"minimum": "1"}, {"properties": []},
        {"anyOf": []}, {"items": [{"type": "null"}]}, {"$ref": "#"},
    ],
)  # fmt: skip
def test_what_is_not_known_is_no_reason_against_a_value(schema: Any) -> None:
    assert fits({"a": [1, "b"]}, schema)


def test_schema_that_refers_to_itself_ends() -> None:
    loop = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}

    assert fits({}, loop)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_keywords = st.sampled_from(
    ["type", "enum", "const", "properties", "required", "items", "anyOf", "allOf", "$ref", "minimum", "minLength"]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(value=_json, schema=st.dictionaries(_keywords, _json, max_size=4))
def test_no_schema_is_a_fault_of_the_gateway(value: Any, schema: Any) -> None:
    assert fits(value, schema) in {True, False}
