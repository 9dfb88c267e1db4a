"""Every policy in every scenario, as a page of the docs: `make comparison`.

Chance is a hash, so the page comes out the same on every machine; with five seeds it takes hours.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pointsman.simulator.command import Wanted, simulate
from pointsman.simulator.names import ALL
from pointsman.simulator.progress import reporting
from pointsman.simulator.report import LEGEND
from pointsman.simulator.scenario import shipped
from pointsman.simulator.workers import usable_cores

PAGE = Path("docs/comparison.md")
SEEDS = 5

_INTRODUCTION = """\
# Comparison

All policies of the [simulator](simulator.md) in all of its scenarios, with {seeds} seeds and one gateway.
`make comparison` writes this page. Below a table stands what was expected of `market`, if anything, and whether it was
met.

```
{legend}
```

`market` is told the value of time that all are measured by, the rebuilds are not: that is what it is for. Who doubts
the weights looks at `usd`, `ttft 50` and `ttft 95`, which need none.
"""


def told(scenario: str, *, seeds: int, jobs: int) -> str:
    """What the simulator prints of a scenario, without the legend."""
    lines = list[str]()
    wanted = Wanted((scenario,), (ALL,), seeds, replicas=1, requests=None, permute=False, jobs=jobs)
    with reporting() as step:
        simulate(wanted, lines.append, step)
    return "\n".join(lines).removesuffix(LEGEND).strip()


def page(tables: Mapping[str, str], seeds: int) -> str:
    """The text of the page."""
    return "\n".join(_lines(tables, seeds))


def _lines(tables: Mapping[str, str], seeds: int) -> Iterator[str]:
    yield _INTRODUCTION.format(seeds=seeds, legend=LEGEND)
    for name, table in tables.items():
        yield f"## {name}\n\n```\n{table}\n```\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", help="names; default: all")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes; default: one for each core")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    names = options.scenarios or list(shipped())
    tables = {Path(name).stem: told(name, seeds=options.seeds, jobs=options.jobs) for name in names}
    options.page.write_text(page(tables, options.seeds), encoding="utf-8")
    sys.stdout.write(f"{options.page}: {', '.join(tables)}\n")


if __name__ == "__main__":
    main()
