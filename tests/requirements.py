"""Which tests prove which requirement: `python -m tests.requirements`.

Tests carry ids as `@pytest.mark.req("R-034")`, `case("T21")`, `trap("7")` or `bug("E-04")`, scenarios as
`req: [R-034]`. They are read from the source, no test runs. An id that `requirements.toml` does not have is an error.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import yaml

TESTS = Path(__file__).parent
KINDS = {"req": "requirements", "case": "cases and invariants", "trap": "traps", "bug": "public faults"}

Catalogue = Mapping[str, Mapping[str, str]]  # kind -> id -> title


class Mark(NamedTuple):
    """One id that one test carries."""

    kind: str
    id: str
    test: str  # as pytest names it


class UnreadableMarkError(ValueError):
    """A mark whose ids are not written out."""


def catalogue() -> Catalogue:
    found: Catalogue = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))
    return found


def marks_of(source: str, name: str) -> Iterator[Mark]:
    """All marks in a test file, also those of classes, parameters and whole modules. Raises UnreadableMarkError."""
    yield from _marks(ast.parse(source), name)


def _marks(node: ast.AST, owner: str) -> Iterator[Mark]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        owner = f"{owner}::{node.name}"
    if isinstance(node, ast.Call) and (kind := _kind(node.func)):
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise UnreadableMarkError(f"{owner}: write the ids of pytest.mark.{kind} out, line {node.lineno}")
            yield Mark(kind, argument.value, owner)
    for child in ast.iter_child_nodes(node):
        yield from _marks(child, owner)


def _kind(called: ast.expr) -> str | None:
    """A key of KINDS if this is `pytest.mark.<kind>` or `mark.<kind>`."""
    if not isinstance(called, ast.Attribute) or called.attr not in KINDS:
        return None
    holder = called.value
    is_mark = holder.attr == "mark" if isinstance(holder, ast.Attribute) else getattr(holder, "id", "") == "mark"
    return called.attr if is_mark else None


def all_marks(root: Path) -> list[Mark]:
    """The marks of every Python file and of every scenario below a folder."""
    readers = {"*.py": marks_of, "scenarios/*.yaml": marks_of_scenarios}
    return [
        mark
        for pattern, read in readers.items()
        for file in sorted(root.rglob(pattern))
        for mark in read(file.read_text(encoding="utf-8"), file.relative_to(root.parent).as_posix())
    ]


def marks_of_scenarios(source: str, name: str) -> Iterator[Mark]:
    """What the scenarios of a file say they prove."""
    for item in yaml.safe_load(source):
        yield from (Mark("req", id_, f"{name}::{item['scenario']}") for id_ in item.get("req", ()))


def unknown(marks: Sequence[Mark], known: Catalogue) -> list[str]:
    """A line for each mark with an id that does not exist."""
    return [f"{mark.test}: there is no {mark.kind} {mark.id}" for mark in marks if mark.id not in known[mark.kind]]


def report(marks: Sequence[Mark], known: Catalogue) -> Iterator[str]:
    """The lines of the report: group by group, each id with its tests, then those without."""
    tests = defaultdict[tuple[str, str], list[str]](list)
    for mark in marks:
        if mark.test not in tests[mark.kind, mark.id]:
            tests[mark.kind, mark.id].append(mark.test)
    for kind, text in KINDS.items():
        for letter, ids in groupby(known[kind], key=_letter):
            yield from _group(
                f"{text}, {letter}" if letter else text, {id_: (known[kind][id_], tests[kind, id_]) for id_ in ids}
            )
    proven, total = sum(map(bool, tests.values())), sum(map(len, known.values()))
    yield f"all: {proven} of {total} ids have a test"


def _group(title: str, rows: Mapping[str, tuple[str, list[str]]]) -> Iterator[str]:
    proven = {id_: row for id_, row in rows.items() if row[1]}
    yield f"{title}: {len(proven)} of {len(rows)} have a test"
    for id_, (text, tests) in proven.items():
        yield f"  {id_:6} {text}"
        yield from (f"         {test}" for test in tests)
    bare = {id_: text for id_, (text, tests) in rows.items() if not tests}
    if bare:
        yield "  without a test:"
        yield from (f"  {id_:6} {text}" for id_, text in bare.items())
    yield ""


def _letter(id_: str) -> str:
    found = re.match("[A-Z]+", id_)
    return found.group() if found else ""


def main() -> int:
    """Print the report; 1 if a mark cannot be read or names an id that does not exist."""
    known = catalogue()
    try:
        marks = all_marks(TESTS)
    except UnreadableMarkError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if wrong := unknown(marks, known):
        sys.stderr.write("\n".join(wrong) + "\n")
        return 1
    sys.stdout.write("\n".join(report(marks, known)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
