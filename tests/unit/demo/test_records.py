"""Records are read as they are written, whatever becomes of their file."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pointsman.demo.records import RecordFile
from pointsman.observability.decision_log import DecisionLog, DecisionRecord
from tests.unit.demo.recording import attempt, note, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "decisions.jsonl"
    found.touch()
    return found


@pytest.fixture
def records(path: Path) -> Iterator[RecordFile]:
    found = RecordFile(path)
    yield found
    found.close()


def line(request_id: str) -> bytes:
    return msgspec.json.encode(record(attempt(), request_id=request_id)) + b"\n"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def ids(found: list[DecisionRecord]) -> list[str]:
    return [entry.request_id for entry in found]


def test_record_is_read_as_the_gateway_wrote_it(path: Path, records: RecordFile) -> None:
    written = record(attempt("swift", "upstream_fault"), attempt("steady"), decisions=[note(), note("steady")])
    log = DecisionLog(path, 1 << 20)
    log.start()
    log.write([written])
    log.close()

    (read,) = records.news()

    assert msgspec.json.encode(read) == msgspec.json.encode(written)


def test_each_record_is_news_once(path: Path, records: RecordFile) -> None:
    append(path, line("1") + line("2"))
    first = records.news()
    append(path, line("3"))

    assert [ids(first), ids(records.news()), ids(records.news())] == [["1", "2"], ["3"], []]


def test_half_a_line_waits_for_its_end(path: Path, records: RecordFile) -> None:
    whole = line("1")
    append(path, whole[:40])
    first = records.news()
    append(path, whole[40:])

    assert (first, ids(records.news())) == ([], ["1"])


def test_replaced_file_is_read_to_its_end_and_then_the_new_one(path: Path, records: RecordFile) -> None:
    append(path, line("1"))
    path.replace(path.with_name("full"))
    append(path, line("2"))

    assert ids(records.news()) == ["1", "2"]


def test_file_that_is_gone_for_a_moment_is_waited_for(path: Path, records: RecordFile) -> None:
    append(path, line("1"))
    path.replace(path.with_name("full"))
    first = records.news()
    append(path, line("2"))

    assert (ids(first), ids(records.news())) == (["1"], ["2"])
