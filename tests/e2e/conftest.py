"""Real engines, shared by all tests that leave them alive."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.e2e.engine import recital
from tests.e2e.engine.engine import Engine, engine

Model: TypeAlias = Callable[[str], Path]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """`model("alpha")`: the file of a model that says so."""
    folder = tmp_path_factory.mktemp("models")

    def made(name: str) -> Path:
        path = folder / f"{name}.gguf"
        if not path.exists():
            recital.write(path, name)
        return path

    return made


@pytest.fixture(scope="session")
def alpha(model: Model) -> Iterator[Engine]:
    with engine(model("alpha")) as running:
        yield running


@pytest.fixture(scope="session")
def beta(model: Model) -> Iterator[Engine]:
    with engine(model("beta")) as running:
        yield running
