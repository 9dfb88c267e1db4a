"""The page of the comparison: made of what the simulator prints."""

from pathlib import Path

from benchmarks.comparison import main, page
from pointsman.simulator.scenario import load, shipped

PAGE = Path(__file__).parents[3] / "docs" / "comparison.md"


def test_page_has_the_table_and_the_verdicts_of_each_scenario(tmp_path: Path) -> None:
    scenario, out = tmp_path / "short.yaml", tmp_path / "page.md"
    scenario.write_text("description: One minute.\nworkload: {duration: 60s}\nexpect: {failures: 0.1}\n")

    main([str(scenario), "--seeds", "1", "--jobs", "1", "--page", str(out)])

    text = out.read_text(encoding="utf-8")
    assert "## short\n\n```\nshort: One minute.\n" in text
    assert text.count("clairvoyant") == 2  # in the table, and in the legend once
    assert "market: failures at most" in text


def test_committed_page_is_laid_out_as_the_command_writes_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]

    assert titles == list(shipped())
    tables = {name: text.split(f"## {name}\n\n```\n")[1].split("\n```\n")[0] for name in titles}
    assert page(tables, 5) == text


def test_committed_page_says_of_each_expectation_whether_it_is_met() -> None:
    text = PAGE.read_text(encoding="utf-8")
    expecting = [name for name in shipped() if load(name).expect.failures is not None]

    for name in expecting:
        assert "market: failures at most" in text.split(f"## {name}\n")[1].split("\n## ")[0]
