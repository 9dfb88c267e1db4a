"""Packages as an installer would leave them, in a folder that a test puts on the path."""

from collections.abc import Mapping
from pathlib import Path

GROUP = "pointsman.strategies"


def install(folder: Path, entries: Mapping[str, str], modules: Mapping[str, str], *, name: str = "rules") -> Path:
    """`entries`: name of an entry point -> object; `modules`: name -> code. Returns what has to be on the path."""
    site = folder / f"site-{name}"
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}", encoding="utf-8")
    for module, code in modules.items():
        (site / f"{module}.py").write_text(code, encoding="utf-8")
    return site
