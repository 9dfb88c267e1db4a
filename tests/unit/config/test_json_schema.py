"""The schema says of a file what the check of the file says, as far as a schema can."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from pointsman.cli import app
from pointsman.config.json_schema import schema
from pointsman.config.schema import ConfigFile
from pointsman.routing.strategies import ADAPTIVE, STRATEGIES

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = schema()
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "null": type(None), "boolean": bool, "integer": int,
    "number": (int, float),
}  # fmt: skip
MINIMAL: dict[str, Any] = {"version": 1, "auth": {"mode": "none"}}


def faults(value: Any, shape: dict[str, Any], path: str = "") -> Iterator[str]:
    """Where a value does not fit: as much of JSON Schema as is used."""
    if "$ref" in shape:
        yield from faults(value, SCHEMA["$defs"][shape["$ref"].rpartition("/")[2]], path)
    if "anyOf" in shape and all(any(True for _ in faults(value, each, path)) for each in shape["anyOf"]):
        yield path
    if not (is_of_type(value, shape.get("type")) and fits(value, shape)):
        yield path
    else:
        for place, child, inner in children(value, shape, path):
            yield from [place] if inner is False else faults(child, inner, place)
        if isinstance(value, dict):
            yield from (f"{path}.{name}" for name in shape.get("required", ()) if name not in value)


def children(value: Any, shape: dict[str, Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where what is below is, and what it must be; False: it must not be."""
    if isinstance(value, dict):
        rest = shape.get("additionalProperties", {})
        for name, child in value.items():
            yield f"{path}.{name}", child, shape.get("properties", {}).get(name, {} if rest is True else rest)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield f"{path}[{index}]", child, shape.get("items", {})


def is_of_type(value: Any, name: str | None) -> bool:
    is_boolean = isinstance(value, bool)
    return name is None or (isinstance(value, TYPES[name]) and (not is_boolean or name == "boolean"))


def fits(value: Any, shape: dict[str, Any]) -> bool:
    return (
        ("enum" not in shape or value in shape["enum"])
        and ("const" not in shape or value == shape["const"])
        and ("pattern" not in shape or re.search(shape["pattern"], value) is not None)
        and ("minimum" not in shape or value >= shape["minimum"])
        and ("maximum" not in shape or value <= shape["maximum"])
    )


def test_example_fits() -> None:
    text = (ROOT / "pointsman.example.yaml").read_text(encoding="utf-8")

    assert list(faults(yaml.safe_load(text), SCHEMA)) == []


@pytest.mark.parametrize(
    "sections",
    [
        {"server": {"drain": "30s", "limits": {"body": "32MiB", "connections": 100}}},
        {"server": {"drain": 30, "limits": {"body": 1024, "connections": "${MANY:-100}"}}},
        {"logs": {"level": "${LEVEL}", "requests": "${REQUESTS:-true}"}},
        {"providers": {"a": {"kind": "vllm", "base_url": "http://a/v1", "api_key": "file:/run/secrets/a"}}},
        {"virtual_models": [{"source": "chat", "targets": [{"model": "a/m", "weight": 2}]}]},
        {"models": {"chat": {"targets": [{"model": "a/m"}], "affinity": {"mode": "prefix"}, "same_model": None}}},
    ],
)
def test_what_the_file_may_say_fits(sections: dict[str, Any]) -> None:
    assert list(faults({**MINIMAL, **sections}, SCHEMA)) == []


@pytest.mark.parametrize(
    ("sections", "place"),
    [
        ({"version": 2}, ".version"),
        ({"auth": {}}, ".auth.mode"),
        ({"servr": {}}, ".servr"),
        ({"server": {"drian": "30s"}}, ".server.drian"),
        ({"server": {"drain": "30 seconds"}}, ".server.drain"),
        ({"server": {"limits": {"body": "32MB"}}}, ".server.limits.body"),
        ({"server": {"limits": {"connections": 0}}}, ".server.limits.connections"),
        ({"logs": {"requests": "yes"}}, ".logs.requests"),
        ({"logs": {"level": "loud"}}, ".logs.level"),
        ({"providers": {"a": {"kind": "vllm", "api-key": "x"}}}, ".providers.a.api-key"),
        ({"models": {"chat": {}}}, ".models.chat.targets"),
        ({"virtual_models": [{"targets": []}]}, ".virtual_models[0].source"),
    ],
)
def test_a_mistake_is_found_at_its_place(sections: dict[str, Any], place: str) -> None:
    assert place in list(faults({**MINIMAL, **sections}, SCHEMA))


def test_every_section_is_closed() -> None:
    sections = [shape for shape in (SCHEMA, *SCHEMA["$defs"].values()) if "properties" in shape]

    assert len(sections) > 30
    assert all(shape["additionalProperties"] is False for shape in sections)


def test_every_key_of_the_file_has_a_shape() -> None:
    assert set(SCHEMA["properties"]) == {*ConfigFile.model_fields, "virtual_models"}


def test_defaults_are_written_as_in_the_file() -> None:
    assert SCHEMA["$defs"]["ServerSection"]["properties"]["listen"]["default"] == "127.0.0.1:4000"


def test_the_schema_beside_the_example_is_the_one_that_is_printed() -> None:
    printed = CliRunner().invoke(app, ["schema"]).output

    assert (ROOT / "pointsman.schema.json").read_text(encoding="utf-8") == printed
    assert json.loads(printed) == SCHEMA


def test_example_names_its_schema_in_the_first_line() -> None:
    first = (ROOT / "pointsman.example.yaml").read_text(encoding="utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=pointsman.schema.json"


@pytest.mark.req("G-052")
@pytest.mark.parametrize("section", ["GroupEntry", "VirtualModel"])
def test_every_strategy_is_offered_wherever_one_is_chosen(section: str) -> None:
    """By editors, and by whatever else is built from the schema. Nobody has to fall back for want of one."""
    offered = set(re.findall(r'"([a-z0-9_]+)"', json.dumps(SCHEMA["$defs"][section]["properties"]["strategy"])))

    assert offered >= {*STRATEGIES, ADAPTIVE}
