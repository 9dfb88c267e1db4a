"""A file that changes, and whatever else can happen to it."""

import os
from pathlib import Path

import pytest

from pointsman.config.file_watch import FileWatch


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pointsman.yaml"
    path.write_text("one")
    return path


def looks(watch: FileWatch, count: int = 4) -> list[bool]:
    return [watch.has_changed() for _ in range(count)]


def test_file_that_is_left_alone_has_not_changed(file: Path) -> None:
    assert looks(FileWatch(file)) == [False] * 4


def test_new_content_is_noticed_once_it_has_been_left_alone_for_one_look(file: Path) -> None:
    watch = FileWatch(file)

    file.write_text("two")

    assert looks(watch) == [False, True, False, False]


def test_file_that_is_being_written_is_not_read_before_it_is_complete(file: Path) -> None:
    watch, seen = FileWatch(file), []

    for length in range(1, 5):
        file.write_text("x" * length)
        seen.append(watch.has_changed())

    assert (seen, looks(watch, 2)) == ([False] * 4, [True, False])


def test_content_that_has_been_noted_is_known(file: Path) -> None:
    watch = FileWatch(file)
    file.write_text("two")

    watch.note()

    assert looks(watch) == [False] * 4


def test_content_that_comes_after_a_note_is_new(file: Path) -> None:
    watch = FileWatch(file)
    file.write_text("two")
    watch.note()

    file.write_text("three")

    assert looks(watch) == [False, True, False, False]


def test_touched_file_has_not_changed(file: Path) -> None:
    watch = FileWatch(file)

    os.utime(file, (1, 1))

    assert looks(watch) == [False] * 4


def test_other_content_of_the_same_length_and_time_is_noticed(file: Path) -> None:
    before = file.stat()
    watch = FileWatch(file)

    other = file.with_name("other")
    other.write_text("two")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)

    assert True in looks(watch)


def test_symbolic_link_that_leads_elsewhere_is_noticed(tmp_path: Path) -> None:
    """As Kubernetes swaps a mounted folder: the path of the file itself stays what it was."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pointsman.yaml").write_text(name)
    (tmp_path / "data").symlink_to("first")
    watch = FileWatch(tmp_path / "data" / "pointsman.yaml")

    (tmp_path / "new").symlink_to("second")
    (tmp_path / "new").replace(tmp_path / "data")

    assert looks(watch) == [False, True, False, False]


def test_file_that_goes_and_comes_back_as_it_was_has_not_changed_in_the_end(file: Path) -> None:
    watch = FileWatch(file)
    file.unlink()
    gone = watch.has_changed()

    file.write_text("one")

    assert (gone, looks(watch)) == (False, [False] * 4)


def test_file_that_stays_away_is_a_change(file: Path) -> None:
    watch = FileWatch(file)

    file.unlink()

    assert looks(watch, 2) == [False, True]


def test_pipe_is_not_watched(tmp_path: Path) -> None:
    """`pointsman serve -c <(make-config)`: reading it again would wait for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    assert looks(FileWatch(path)) == [False] * 4


def test_file_that_cannot_be_read_has_no_known_content(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = FileWatch(file)

    def refuse(*_: object) -> None:
        raise PermissionError

    file.write_text("two")
    monkeypatch.setattr(Path, "open", refuse)

    assert looks(watch, 2) == [False, True]
