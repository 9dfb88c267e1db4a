"""The documents as data: tables, code blocks, headings and links."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pointsman"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
MARKDOWN = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "changes").rglob("*.md")),
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CELL = re.compile(r"(?<!\\)\|")

Row = dict[str, str]


@cache
def text(name: str) -> str:
    """A page by its path from the root of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """A page without its code blocks."""
    return _FENCE.sub("", page)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of one language; an empty one stands for blocks that name none."""
    return [body for found, body in _FENCE.findall(page) if found == language]


def section(name: str, heading: str) -> str:
    """What stands below a heading, up to the next one of any level."""
    for part in re.split(r"^#+ +", prose(text(name)), flags=re.MULTILINE):
        title, _, body = part.partition("\n")
        if title.strip() == heading:
            return body
    raise LookupError(f"{name} has no heading {heading!r}")


def tables(page: str) -> Iterator[list[Row]]:
    """Every table, as rows by the names of their columns."""
    for found in re.findall(r"(?:^\|.*\n?)+", prose(page), flags=re.MULTILINE):
        head, _, *lines = (_cells(line) for line in found.splitlines())
        yield [dict(zip(head, cells, strict=True)) for cells in lines]


def table(name: str, heading: str) -> list[Row]:
    """The one table below a heading."""
    (found,) = tables(section(name, heading))
    return found


def codes(cell: str) -> list[str]:
    """Everything in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def code(cell: str) -> str:
    """The one thing in backticks."""
    (found,) = codes(cell)
    return found


def links(page: str) -> list[str]:
    """The targets of all links."""
    return _LINK.findall(re.sub(r"`[^`]*`", "", prose(page)))


def anchors(page: str) -> set[str]:
    """The names that headings get where Markdown is shown."""
    titles = (re.sub(r"[^\w\- ]", "", title).strip().lower() for title in _HEADING.findall(prose(page)))
    return {title.replace(" ", "-") for title in titles}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line.strip())[1:-1]]
