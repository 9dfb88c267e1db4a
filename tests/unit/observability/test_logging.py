"""Log lines."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.observability.logging import JsonFormatter, configure, flood


def formatted(message: str, *args: object, **attributes: object) -> dict[str, Any]:
    entry = logging.LogRecord("pointsman.x", logging.WARNING, "file.py", 1, message, args, None)
    entry.created, entry.msecs = 1_796_040_000.25, 250.0
    entry.__dict__.update(attributes)
    line = JsonFormatter().format(entry)
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    for handler in logger.handlers:
        if handler not in handlers:
            handler.close()
    logger.handlers[:], logger.level = handlers, level


def written(logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> list[str]:
    for handler in logger.handlers:
        handler.flush()
    return capfd.readouterr().out.splitlines()


def test_line_is_one_json_object() -> None:
    assert formatted("paused %s for %d s", "a/m", 30) == {
        "time": "2026-11-30T12:00:00.250Z",
        "level": "warning",
        "logger": "pointsman.x",
        "message": "paused a/m for 30 s",
    }


def test_fields_stand_beside_the_message() -> None:
    assert formatted("request", fields={"status": 200, "group": "chat"})["status"] == 200


def test_line_breaks_in_a_message_cannot_start_another_line() -> None:
    assert formatted('x\r\n{"level": "critical"}')["message"] == 'x\r\n{"level": "critical"}'


def test_exception_is_part_of_the_line() -> None:
    try:
        int("no")
    except ValueError:
        found = formatted("failed", exc_info=sys.exc_info())

    assert "ValueError" in found["exception"]


def test_value_that_json_does_not_know_is_written_as_text() -> None:
    assert formatted("x", fields={"path": {1}})["path"] == "{1}"


def test_everything_from_the_level_on_goes_to_stdout(root: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    configure("warning")

    root.info("unseen")
    root.warning("seen")

    assert [json.loads(line)["message"] for line in written(root, capfd)] == ["seen"]


@pytest.mark.case("T77")
def test_a_flood_of_equal_faults_does_not_fill_the_log(root: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    configure("warning")
    before = flood.dropped

    for number in range(1_000):
        root.error("a flood of %d", number)

    lines = len(written(root, capfd))
    assert 10 <= lines <= 40
    assert lines + flood.dropped - before == 1_000
