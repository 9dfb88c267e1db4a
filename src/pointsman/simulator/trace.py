"""Recorded requests from a file: JSON Lines as of Mooncake, or CSV as of Azure; plain or gzip."""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from pointsman.domain.errors import PointsmanError
from pointsman.simulator.request import Request

_MS_PER_S = 1000.0


class TraceError(PointsmanError):
    """A trace that cannot be read: where, and what to do."""


class _Line(msgspec.Struct):
    """One line of a Mooncake trace."""

    timestamp: float  # ms
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...] = ()


def read_trace(path: Path, *, speed: float = 1.0, duration_s: float) -> list[Request]:
    """The requests of the first `duration_s` seconds after they were sped up, in order."""
    rows = sorted(_rows(path), key=lambda row: row.timestamp)
    begin_ms = rows[0].timestamp if rows else 0.0
    found = []
    for number, row in enumerate(rows):
        at_s = (row.timestamp - begin_ms) / _MS_PER_S / speed
        if at_s >= duration_s:
            break
        blocks = row.hash_ids[: row.input_length // 512]  # the last one may be a part only
        found.append(Request(f"t{number}", at_s, max(row.input_length, 1), max(row.output_length, 1), blocks=blocks))
    if not found:
        raise TraceError(f"{path}: there is no request in this trace. Name a file with at least one line.")
    return found


def _rows(path: Path) -> Iterator[_Line]:
    readers = {".jsonl": _json_lines, ".csv": _csv}
    kind = path.with_suffix("") if path.suffix == ".gz" else path
    if kind.suffix not in readers:
        raise TraceError(f"{path}: this is neither .jsonl nor .csv. Name a trace in one of these forms, also as .gz.")
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from readers[kind.suffix](path, raw.decode("utf-8"))
    except (OSError, EOFError) as error:
        raise TraceError(f"{path}: cannot read the trace: {error}. Check its path and permissions.") from error
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}: the trace is not UTF-8 text. Save it as UTF-8.") from error


def _json_lines(path: Path, text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError as error:
                fix = "Each line needs timestamp (ms), input_length and output_length."
                raise TraceError(f"{path}:{number}: {error}. {fix}") from error


def _csv(path: Path, text: str) -> Iterator[_Line]:
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        yield _csv_line(path, number, row)


def _csv_line(path: Path, number: int, row: Mapping[str, str]) -> _Line:
    try:
        return _Line(float(row["t_ms"]), int(row["in_tokens"]), int(row["out_tokens"]))
    except (KeyError, ValueError, TypeError) as error:
        fix = "The first line must be t_ms,in_tokens,out_tokens, and all others numbers."
        raise TraceError(f"{path}:{number}: this is not a request. {fix}") from error
