"""The JSON Schema of the configuration file, for editors: made of the models that the file is checked with."""

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import to_jsonable_python

from pointsman.config.schema import ConfigFile

ID = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {"$ref": "#/$defs/Reference"}
_REFERENCE_SHAPE = {
    "title": "Reference",
    "description": "The environment variable NAME, or the text behind `:-` where it is not set.",
    "type": "string",
    "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^{}]*)?\}",
}
_VALUES = ("default", "enum", "const", "required")  # what is below is no schema


class _Generator(GenerateJsonSchema):
    """Defaults of sections are those of their keys, and others are written as the file writes them."""

    def encode_default(self, dft: Any) -> Any:
        return to_jsonable_python(dft, fallback=str)


def schema() -> JsonSchemaValue:
    """The whole of it, in draft 2020-12."""
    made = ConfigFile.model_json_schema(schema_generator=_Generator)
    definitions = made.pop("$defs")
    made["properties"]["virtual_models"] = {"type": "array", "items": {"$ref": "#/$defs/VirtualModel"}}
    definitions["VirtualModel"] = _virtual_model(definitions["GroupEntry"])
    shapes = {name: _with_references(shape) for name, shape in definitions.items()}
    return {"$schema": ID, **_with_references(made), "$defs": {**shapes, "Reference": _REFERENCE_SHAPE}}


def _virtual_model(group: Mapping[str, Any]) -> JsonSchemaValue:
    """A group that has its name inside."""
    properties = {"source": {"type": "string"}, **group["properties"]}
    return {**group, "title": "VirtualModel", "properties": properties, "required": ["source", *group["required"]]}


def _with_references(node: Any) -> Any:
    """Wherever a number, a truth value or a choice may stand, a reference to a variable may, too."""
    if isinstance(node, list):
        return [_with_references(each) for each in node]
    if not isinstance(node, dict):
        return node
    return _widened({key: value if key in _VALUES else _with_references(value) for key, value in node.items()})


def _widened(node: JsonSchemaValue) -> JsonSchemaValue:
    if isinstance(node.get("default"), dict) and "$ref" in node:
        del node["default"]
    if isinstance(about := node.get("description"), str):
        node["description"] = about.replace("None", "null")
    is_choice = ("enum" in node or "const" in node) and isinstance(node.get("type"), str)
    if node.get("type") in {"integer", "number", "boolean"} or is_choice:
        outside: JsonSchemaValue = {key: node.pop(key) for key in ("title", "description", "default") if key in node}
        return {**outside, "anyOf": [node, _REFERENCE]}
    return node
