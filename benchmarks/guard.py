"""Recorded ratios, against which later ones are held: a change that costs much is noticed where it is made."""

from pathlib import Path

import msgspec

from benchmarks.report import Result

TOLERANCE = 1.3  # the same code, measured on a busy machine, differs by a quarter


def record(result: Result, path: Path) -> None:
    """Write the ratio of every figure that has a limit by ratio; others are too noisy to be held against anything."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(_ratios(result))) + b"\n")


def rises(result: Result, path: Path) -> list[str]:
    """A line for each ratio that is far above the recorded one."""
    before = msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    return [
        f"{name}: ratio {ratio:.2f}, recorded was {before[name]:.2f}\n"
        for name, ratio in _ratios(result).items()
        if name in before and ratio > before[name] * TOLERANCE
    ]


def _ratios(result: Result) -> dict[str, float]:
    return {
        row.name: round(row.ratio.median, 2)
        for row in result.rows
        if row.limit is not None and row.limit.ratio is not None
    }
