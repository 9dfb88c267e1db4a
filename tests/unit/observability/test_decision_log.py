"""Decision records on disk."""

import logging
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from pointsman.observability import decision_log
from pointsman.observability.decision_log import DecisionLog, DecisionRecord

FULL_DISK = Path("/dev/full")
PATIENCE_S = 10.0


def record(request_id: str = "req-1") -> DecisionRecord:
    return DecisionRecord(
        "2026-11-30T12:00:00.000Z", request_id, 1, "alice", None, None, None, (), (), 200, "ok", 0.1, None, None
    )


def started(path: Path, max_bytes: int = 1 << 20) -> DecisionLog:
    log = DecisionLog(path, max_bytes)
    log.start()
    return log


def ids(path: Path) -> list[str]:
    return [msgspec.json.decode(line)["request_id"] for line in path.read_bytes().splitlines()]


def test_closed_file_has_every_record_in_order(tmp_path: Path) -> None:
    log = started(tmp_path / "d.jsonl")

    for number in range(1_000):
        log.write([record(str(number))])
        if number % 100 == 0:
            log.check(0.0)
    log.close()

    assert ids(tmp_path / "d.jsonl") == [str(number) for number in range(1_000)]
    assert log.dropped == 0


def test_every_field_is_written_also_those_that_are_not_known(tmp_path: Path) -> None:
    log = started(tmp_path / "d.jsonl")
    log.write([record()])
    log.close()

    written = msgspec.json.decode((tmp_path / "d.jsonl").read_bytes())

    assert list(written) == list(DecisionRecord.__struct_fields__)


def test_file_and_its_folder_are_made_at_the_start_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "d.jsonl"

    started(path).close()

    assert path.stat().st_mode & 0o077 == 0


def test_path_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(OSError, match="file"):
        DecisionLog(tmp_path / "file" / "d.jsonl", 1_000).start()


def test_log_that_never_started_closes_quietly(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "d.jsonl", 1_000)

    log.close()

    assert not (tmp_path / "d.jsonl").exists()


def test_earlier_records_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    for name in ("first", "second"):
        log = started(path)
        log.write([record(name)])
        log.close()

    assert ids(path) == ["first", "second"]


def test_both_segments_together_stay_near_the_limit(tmp_path: Path) -> None:
    path, limit_bytes = tmp_path / "d.jsonl", 20_000

    for batch in range(100):  # closing makes sure that the writing thread keeps up
        log = started(path, limit_bytes)
        for number in range(10):
            log.write([record(f"{batch:02}-{number}")])
        log.close()

    batch_bytes = 10 * (len(msgspec.json.encode(record("00-0"))) + 1)
    files = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert set(files) == {"d.jsonl", "d.jsonl.1"}
    assert sum(files.values()) <= limit_bytes + 2 * batch_bytes


def test_newest_records_survive_the_change_of_segments(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    for batch in range(100):
        log = started(path, 20_000)
        log.write([record(f"{batch:02}" + "x" * 300)])
        log.close()

    kept = [*ids(path.with_name("d.jsonl.1")), *(ids(path) if path.exists() else [])]

    assert [int(request_id[:2]) for request_id in kept] == list(range(100 - len(kept), 100))


@pytest.mark.case("I10")
@pytest.mark.parametrize("surplus", [0, 7])
def test_records_past_the_limit_are_dropped_and_counted(tmp_path: Path, surplus: int) -> None:
    log = started(tmp_path / "d.jsonl", max_bytes=1 << 30)

    for _ in range(decision_log.MAX_GATHERED + surplus):
        log.write([record()])
    log.close()

    assert log.dropped == surplus
    assert len(ids(tmp_path / "d.jsonl")) == decision_log.MAX_GATHERED


@pytest.mark.case("I10")
@pytest.mark.skipif(not FULL_DISK.exists(), reason="only Linux has a disk that is always full")
def test_records_that_the_disk_refuses_to_the_end_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    log = started(FULL_DISK)

    log.write([record()])
    log.write([record()])
    with caplog.at_level(logging.ERROR):
        log.close()

    assert log.dropped == 2
    assert caplog.text.count("decision records cannot be written") == 1
    assert log.is_failing


@contextmanager
def full_from(size_bytes: int) -> Iterator[None]:
    """No file of this process can grow beyond that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.case("T84", "I10")
def test_records_wait_for_a_full_disk_and_are_whole_once_it_has_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "d.jsonl"
    log = started(path)
    log.write([record("before")])
    log.check(0.0)
    until(lambda: path.stat().st_size > 0)

    caplog.set_level(logging.INFO)
    with full_from(path.stat().st_size + 50):  # room for a part of a line
        for number in range(3):
            log.write([record(str(number))])
            log.check(0.0)
        until(lambda: log.is_failing)
        held = ids(path)
    until(lambda: not log.is_failing)
    log.close()

    assert held == ["before"]
    assert ids(path) == ["before", "0", "1", "2"]
    assert log.dropped == 0
    told = [record.message for record in caplog.records]
    assert [text.partition(",")[0].partition(";")[0] for text in told] == [
        "decision records cannot be written", "decision records are written again",
    ]  # fmt: skip


@pytest.mark.case("T84", "I10")
def test_what_waits_for_a_full_disk_is_bounded_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_log, "MAX_GATHERED", 10)
    path = tmp_path / "d.jsonl"
    log = started(path)

    with full_from(0):
        for _ in range(100):
            log.write([record()])
            log.check(0.0)
        until(lambda: log.is_failing)
    log.close()

    assert log.dropped > 0
    assert len(ids(path)) + log.dropped == 100


@pytest.mark.case("T84")
def test_records_go_on_in_the_full_file_while_no_other_can_be_begun(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "d.jsonl"
    path.with_name("d.jsonl.1").mkdir()  # a file cannot take its place
    log = started(path, max_bytes=100)

    log.write([record("1")])
    log.check(0.0)
    until(lambda: "no new file" in caplog.text)
    path.with_name("d.jsonl.1").rmdir()
    log.write([record("2")])
    log.close()

    assert ids(path.with_name("d.jsonl.1")) == ["1", "2"]
    assert (log.dropped, log.is_failing) == (0, False)


def test_nothing_gathered_hands_nothing_over(tmp_path: Path) -> None:
    log = started(tmp_path / "d.jsonl")

    log.check(0.0)
    log.close()

    assert (tmp_path / "d.jsonl").read_bytes() == b""


class Keeper:
    """Whoever else keeps records."""

    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []
        self.size_bytes = 0

    def keep(self, records: Sequence[DecisionRecord], size_bytes: int) -> None:
        self.records += records
        self.size_bytes += size_bytes


def test_whoever_else_keeps_records_gets_those_that_are_written_and_their_size(tmp_path: Path) -> None:
    log, keeper = started(tmp_path / "d.jsonl"), Keeper()
    log.on_kept = keeper.keep

    log.write([record("1"), record("2")])
    log.close()

    assert keeper.records == [record("1"), record("2")]
    assert keeper.size_bytes == (tmp_path / "d.jsonl").stat().st_size


def test_record_that_is_dropped_is_kept_by_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(decision_log, "MAX_GATHERED", 1)
    log, keeper = DecisionLog(tmp_path / "d.jsonl", 1_000), Keeper()
    log.on_kept = keeper.keep

    log.write([record("1"), record("2")])

    assert (keeper.records, log.dropped) == ([record("1")], 1)
