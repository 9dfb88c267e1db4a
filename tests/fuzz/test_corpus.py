"""Inputs that once reached something new, or showed a fault, are tried on every change."""

from pathlib import Path

import pytest

from tests.fuzz.targets import CORPUS, TARGETS

INPUTS = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.case("T66")
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_input_of_the_corpus_shows_a_fault(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.case("T66")
def test_every_target_has_inputs() -> None:
    assert {path.parent.name for path in INPUTS} == set(TARGETS)
