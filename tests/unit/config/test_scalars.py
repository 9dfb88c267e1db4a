"""Plain YAML scalars: the JSON types and nothing else."""

import math

import pytest

from pointsman.config.scalars import VariableText, read_scalar, reread


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-5", -5),
        ("+5", 5),
        ("123456789012345678", 123456789012345678),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        (".inf", math.inf),
        ("-.inf", -math.inf),
    ],
)
def test_json_types_are_read(text: str, value: object) -> None:
    read = read_scalar(text)

    assert read == value
    assert type(read) is type(value)


def test_not_a_number_is_read_as_such() -> None:
    read = read_scalar(".nan")

    assert isinstance(read, float)
    assert math.isnan(read)


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "no", "on", "off", "y", "n", "True", "FALSE", "Null", "NULL", ".NaN", ".Inf"),
        *("010", "0x10", "0b1", "0o17", "1_000", "1:30", "190:20:30", "2026-10-04", "2026-10-04T12:00:00Z"),
        *("1234567890123456789", "1e1000", "1e", ".", "e5", "--1", "1 ", "\u0663"),
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert read_scalar(text) == text


def test_text_of_a_variable_is_read_again_as_a_scalar() -> None:
    assert reread(VariableText(" 5 ")) == 5


@pytest.mark.parametrize("value", ["5", 5, True, None, [1]])
def test_values_of_the_file_are_not_read_again(value: object) -> None:
    assert reread(value) is value
