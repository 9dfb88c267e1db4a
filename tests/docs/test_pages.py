"""Links lead somewhere, examples work, and files that are named exist."""

import ast
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from pointsman.config.load import load
from tests.docs import pages, plugin

ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-1",
    "OPENROUTER_API_KEY": "sk-2",
    "ANTHROPIC_API_KEY": "sk-3",
    "POINTSMAN_PEPPER": "a-pepper-of-some-length",
    "HOME": "/home/somebody",
}

NAME_OF_PAGE = [pytest.param(page, id=str(page.relative_to(pages.ROOT))) for page in pages.MARKDOWN]


def every_block(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.relative_to(pages.ROOT)}:{number}")
        for page in pages.MARKDOWN
        for number, block in enumerate(pages.blocks(page.read_text(encoding="utf-8"), language), 1)
    ]


@pytest.mark.parametrize("page", NAME_OF_PAGE)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    broken = []
    for link in pages.links(page.read_text(encoding="utf-8")):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.exists() or (
            parts.fragment and parts.fragment not in pages.anchors(target.read_text(encoding="utf-8"))
        ):
            broken.append(link)

    assert broken == []


@pytest.mark.parametrize("page", NAME_OF_PAGE)
def test_no_heading_of_a_page_has_the_anchor_of_another(page: Path) -> None:
    text = pages.prose(page.read_text(encoding="utf-8"))

    assert len(pages.anchors(text)) == len(re.findall(r"^#+ ", text, re.MULTILINE))


@pytest.mark.parametrize("block", every_block("yaml"))
def test_yaml_example_is_a_valid_configuration(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(plugin.installed(tmp_path))
    file = tmp_path / "pointsman.yaml"
    file.write_text(block, encoding="utf-8")

    loaded = load(file, environ=ENVIRONMENT)

    assert block.startswith("version: 1\n")
    assert loaded.warnings == ()
    assert loaded.snapshot.groups


@pytest.mark.parametrize("block", every_block("json"))
def test_json_example_is_json(block: str) -> None:
    assert isinstance(json.loads(block), dict)


@pytest.mark.parametrize("block", every_block("python"))
def test_python_example_compiles(block: str) -> None:
    assert ast.parse(block).body


@pytest.mark.parametrize("language", ["yaml", "json", "python"])
def test_examples_of_each_language_are_found(language: str) -> None:
    assert every_block(language)


def test_every_document_is_linked_from_the_readme() -> None:
    linked = {link.partition("#")[0] for link in pages.links(pages.text("README.md"))}
    unlinked = {str(page.relative_to(pages.ROOT)) for page in pages.PAGES} - linked - {"README.md"}

    assert unlinked == set()


def test_every_source_file_that_the_architecture_names_exists() -> None:
    text = pages.prose(pages.text("docs/architecture.md"))
    named = {found for code in pages.codes(text) for found in re.findall(r"[\w/]+\.py", code)}
    files = {str(file.relative_to(pages.SOURCE)) for file in pages.SOURCE.rglob("*.py")}
    missing = [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]

    assert named
    assert missing == []
