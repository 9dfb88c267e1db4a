"""What came of running every client that there is: `make compatibility` writes docs/compatibility.md."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pointsman.domain.request import Dialect
from tests.docs.pages import ROOT
from tests.e2e import agent_task, agents, compatible
from tests.e2e.compatible import CASES, SPOKEN
from tests.e2e.engine import recital
from tests.e2e.engine.engine import engine
from tests.e2e.gateway import serve
from tests.integration.harness import group

PAGE = ROOT / "docs" / "compatibility.md"
SDKS, AGENTS = "sdks", "agents"  # the two tables
NOT_RUN = "not run"
CELLS = tuple(f"`{spoken}`" for spoken in SPOKEN)
HEAD = ("client", "version", "asks in", *CELLS)

Rows = Mapping[
    tuple[str, ...], Sequence[str]
]  # client, version and dialect -> what came of it, by what the target speaks


def sdk_rows() -> list[tuple[str, ...]]:
    """What stands at the beginning of each row."""
    return [(f"{client.package} ({client.language})", client.version, f"`{dialect}`") for client, dialect in CASES]


def agent_rows() -> list[tuple[str, ...]]:
    return [(agent.name, agent.version, f"`{agent.dialect}`") for agent in agents.AGENTS]


def expected_of_sdks() -> Rows:
    """What the page has to say as long as all is well."""
    cells = [[compatible.expected(*case, spoken) for spoken in SPOKEN] for case in CASES]
    return dict(zip(sdk_rows(), cells, strict=True))


def expected_of_agents() -> Rows:
    cells = [[compatible.OK if spoken in agent.targets else NOT_RUN for spoken in SPOKEN] for agent in agents.AGENTS]
    return dict(zip(agent_rows(), cells, strict=True))


def found_of_sdks(folder: Path) -> Rows:
    recital.write(folder / "alpha.gguf", "alpha")
    columns = []
    with engine(folder / "alpha.gguf") as alpha:
        for spoken in SPOKEN:
            place = _made(folder / spoken)
            fields = {"dialects": [spoken.value]}
            with serve(place, alpha, groups={"chat": group(alpha)}, fields=fields) as gateway:
                urls = {"gateway_url": gateway.base_url, "engine_url": alpha.base_url}
                columns.append([compatible.result(*case, **urls) for case in CASES])
    return dict(zip(sdk_rows(), zip(*columns, strict=True), strict=True))


def found_of_agents(folder: Path) -> Rows:
    cells = [[_task(folder, agent, spoken) for spoken in SPOKEN] for agent in agents.AGENTS]
    return dict(zip(agent_rows(), cells, strict=True))


def _task(folder: Path, agent: agents.Agent, spoken: Dialect) -> str:
    if spoken not in agent.targets:
        return NOT_RUN
    return agent_task.result(
        _made(folder / f"{agent.package.rpartition('/')[2]}-{agent.model}-{spoken}"), agent, spoken
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def table(rows: Rows) -> Iterator[str]:
    yield f"| {' | '.join(HEAD)} |"
    yield "|---" * len(HEAD) + "|"
    for row, cells in rows.items():
        yield f"| {' | '.join((*row, *cells))} |"


def with_table(page: str, name: str, rows: Rows) -> str:
    """The page with another table between the two marks of that name."""
    begin, end = f"<!-- {name}: written by make compatibility -->\n", f"<!-- end of {name} -->\n"
    head, rest = page.split(begin)
    _, tail = rest.split(end)
    return head + begin + "\n" + "".join(f"{line}\n" for line in table(rows)) + "\n" + end + tail


def main() -> bool:
    """Whether all is as expected."""
    with tempfile.TemporaryDirectory() as folder:
        found = {SDKS: found_of_sdks(Path(folder)), AGENTS: found_of_agents(Path(folder))}
    page = PAGE.read_text(encoding="utf-8")
    for name, rows in found.items():
        page = with_table(page, name, rows)
        sys.stdout.writelines(f"{line}\n" for line in table(rows))
    PAGE.write_text(page, encoding="utf-8")
    expected = {SDKS: expected_of_sdks(), AGENTS: expected_of_agents()}
    return {name: list(table(rows)) for name, rows in found.items()} == {
        name: list(table(rows)) for name, rows in expected.items()
    }


if __name__ == "__main__":
    sys.exit(not main())
