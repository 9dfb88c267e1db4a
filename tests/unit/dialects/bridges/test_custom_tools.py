"""Tools of Responses that take a text, where functions are all there is."""

import json

import pytest

from pointsman.dialects.bridges import custom_tools
from pointsman.dialects.bridges import responses_shapes as shapes

GRAMMAR = shapes.Format("grammar", syntax="lark", definition="start: /.+/")


def test_a_tool_that_takes_a_text_becomes_a_function_that_takes_one() -> None:
    found = custom_tools.as_function(shapes.Tool("custom", "apply_patch", "Edit."))

    assert (found.name, found.description) == ("apply_patch", "Edit.")
    assert found.schema is not None
    assert json.loads(bytes(found.schema))["required"] == ["input"]


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (shapes.Tool("custom", "p"), None),
        (shapes.Tool("custom", "p", "Edit.", format=shapes.Format("text")), "Edit."),
        (
            shapes.Tool("custom", "p", "Edit.", format=GRAMMAR),
            "Edit.\n\nThe input has to follow this lark grammar:\nstart: /.+/",
        ),
        (shapes.Tool("custom", "p", format=GRAMMAR), "The input has to follow this lark grammar:\nstart: /.+/"),
    ],
)
def test_the_model_is_told_of_a_grammar_that_nobody_enforces(tool: shapes.Tool, told: str | None) -> None:
    assert custom_tools.as_function(tool).description == told


@pytest.mark.parametrize("text", ["", '*** Begin Patch\n+é "x"\n', "{}"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert custom_tools.input_in(custom_tools.arguments_of(text)) == text


@pytest.mark.parametrize("arguments", ["*** Begin Patch", "{}", '{"input": 1}', '{"input": "a', ""])
def test_what_the_model_wrote_otherwise_is_handed_on_as_it_is(arguments: str) -> None:
    assert custom_tools.input_in(arguments) == arguments
