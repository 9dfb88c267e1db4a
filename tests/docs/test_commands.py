"""docs/cli.md and the targets of make: commands, options, defaults, exit codes."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import pytest
import typer
from typer.testing import CliRunner

from pointsman.cli import app
from tests.docs import pages

PAGE = "docs/cli.md"
ROOT_COMMAND = typer.main.get_command(app)
ROWS = {pages.code(row["command"]).removeprefix("pointsman "): row for row in pages.table(PAGE, "Command line")}
MAKEFILE = pages.text("Makefile")
ALL_TEXT = {page.name: page.read_text(encoding="utf-8") for page in pages.MARKDOWN}


def commands() -> dict[str, click.Command]:
    """By their full names: those of groups, too."""
    return dict(_commands(ROOT_COMMAND, ""))


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, type(ROOT_COMMAND)):
        for word, inner in cast("click.Group", command).commands.items():
            yield from _commands(inner, f"{name} {word}".strip())
    else:
        yield name, command


def options_of(command: str) -> set[str]:
    return {
        name
        for parameter in commands()[command].params
        if parameter.param_type_name == "option"
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def test_every_command_is_documented_and_no_other() -> None:
    assert sorted(ROWS) == sorted(commands())


@pytest.mark.parametrize("command", ROWS)
def test_every_option_is_documented_and_no_other(command: str) -> None:
    documented = {code for code in pages.codes(ROWS[command]["option"]) if code.startswith("-")}

    assert documented == options_of(command)


@pytest.mark.parametrize("command", ROWS)
def test_every_argument_is_documented(command: str) -> None:
    arguments = [found for found in commands()[command].params if found.param_type_name == "argument"]

    assert ROWS[command]["option"].count("argument:") == len(arguments)


@pytest.mark.parametrize("command", ROWS)
def test_every_default_and_variable_of_an_option_is_documented(command: str) -> None:
    for parameter in commands()[command].params:
        assert parameter.default in {None, False} or str(parameter.default) in ROWS[command]["option"]
        assert parameter.envvar is None or f"`{parameter.envvar}`" in ROWS[command]["option"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "good.yaml"], 0),
        (["check", "bad.yaml"], 1),
        (["serve", "--config", "bad.yaml"], 1),
        (["chekc"], 2),
        (["explain", "request.json", "--config", "good.yaml"], 3),
    ],
)
def test_documented_exit_code_is_the_one_given(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (good, *_) = pages.blocks(pages.text("docs/configuration.md"), "yaml")
    (tmp_path / "good.yaml").write_text(good, encoding="utf-8")
    (tmp_path / "bad.yaml").write_text("version: 2\n", encoding="utf-8")
    (tmp_path / "request.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(app, arguments, env={"OPENAI_API_KEY": "sk-1"})

    assert result.exit_code == code
    assert re.search(rf"\b{code} (done|the )", pages.text(PAGE).replace("\n", " "))


@pytest.mark.parametrize("page", ALL_TEXT)
def test_every_command_that_a_document_shows_exists(page: str) -> None:
    shown = re.findall(r"(?:`|\.venv/bin/|^)pointsman ([a-z]+(?: [a-z]+)?)", ALL_TEXT[page], re.MULTILINE)

    assert [words for words in shown if not {words, words.split()[0]} & set(commands())] == []


def test_documented_script_is_the_one_installed() -> None:
    project = tomllib.loads(pages.text("pyproject.toml"))["project"]

    assert project["scripts"] == {"pointsman": "pointsman.cli:main"}


# --- make


def public_targets() -> dict[str, str]:
    """Those that `make help` lists."""
    return dict(re.findall(r"^([a-z-]+):.*?## (.*)$", MAKEFILE, re.MULTILINE))


def test_every_target_of_make_is_documented_and_no_other() -> None:
    documented = [pages.code(row["target"]).removeprefix("make ") for row in pages.table(PAGE, "make")]

    assert sorted(documented) == sorted(public_targets())


@pytest.mark.parametrize("page", ALL_TEXT)
def test_every_target_of_make_that_a_document_shows_exists(page: str) -> None:
    shown = re.findall(r"(?:`|^)make ([a-z]+)", ALL_TEXT[page], re.MULTILINE)

    assert set(shown) - set(public_targets()) == set()


def test_every_public_target_of_make_is_phony() -> None:
    phony = {name for line in re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE) for name in line.split()}

    assert set(public_targets()) - phony == set()


# --- what documents say of the project file


def test_documented_python_is_the_one_required() -> None:
    project = tomllib.loads(pages.text("pyproject.toml"))["project"]

    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in pages.text("README.md")
    assert "Python 3.11 or newer" in pages.text("CONTRIBUTING.md")


def test_documented_number_of_runtime_dependencies_is_true() -> None:
    project = tomllib.loads(pages.text("pyproject.toml"))["project"]

    assert len(project["dependencies"]) == 11
    assert "There are eleven." in pages.text("CONTRIBUTING.md")


def test_documented_layers_are_those_that_imports_are_checked_against() -> None:
    contract = tomllib.loads(pages.text("pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    layers = [layer.replace("pointsman.", "").split(" | ") for layer in contract["layers"]]
    (drawing,) = [
        block for block in pages.blocks(pages.text("docs/architecture.md"), "") if "composition root" in block
    ]

    drawn = [re.split(r" {2,}\| {2,}", line.strip()) for line in drawing.splitlines() if not line.startswith("---")]
    names = [[re.split(r" {2,}", part)[0] for part in parts] for parts in drawn]

    assert names == [layer for layer in layers if layer != ["__main__"]]
