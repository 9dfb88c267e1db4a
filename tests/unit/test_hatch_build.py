"""Which modules a wheel holds compiled."""

from pathlib import Path

import pytest

from hatch_build import modules

SOURCES = Path(__file__).parents[2] / "src"
PLAIN = "class Answer:\n    def read(self) -> int:\n        return 1\n"


def compiled(folder: Path, source: str, package: str = "proxy") -> bool:
    module = folder / "pointsman" / package / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text(source)
    return modules(folder) == [module]


def test_a_module_of_the_request_path_is_compiled(tmp_path: Path) -> None:
    assert compiled(tmp_path, PLAIN)


def test_what_is_not_on_the_request_path_stays_source(tmp_path: Path) -> None:
    assert not compiled(tmp_path, PLAIN, package="config")


@pytest.mark.parametrize(
    "head", ["class Wire(Struct):", "class Wire(Value, kw_only=True):", "class Wire(msgspec.Struct, frozen=True):"]
)
def test_a_module_whose_classes_would_lose_something_stays_source(tmp_path: Path, head: str) -> None:
    assert not compiled(tmp_path, f"{PLAIN}\n\n{head}\n    model: str\n")


@pytest.mark.parametrize(
    "hot",
    [
        "dialects/openai_chat", "dialects/sse", "http1/client", "http1/head", "http1/request_reader", "http1/server",
        "proxy/call", "proxy/handler", "proxy/recorder", "proxy/streaming", "routing/exchange", "routing/router",
        "signals/board",
    ],
)  # fmt: skip
def test_modules_that_every_request_runs_through_are_compiled(hot: str) -> None:
    assert SOURCES / "pointsman" / f"{hot}.py" in modules(SOURCES)
