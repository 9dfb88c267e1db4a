"""Logs: one JSON object per line on stdout, for changes of state and, if wanted, requests."""

import json
import logging
import time

from pointsman.observability.flood import FloodGate
from pointsman.observability.sink import Sink

_STDOUT = 1

flood = FloodGate(time.monotonic)  # one for the process, as its handlers are


class JsonFormatter(logging.Formatter):
    """`time`, `level`, `logger`, `message`, and whatever `extra` fields the call gave under `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def configure(level: str) -> None:
    """Send everything of this process to stdout as JSON, from `level` on."""
    handler = Sink(_STDOUT)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(flood)
    logging.basicConfig(handlers=[handler], force=True)
    set_level(level)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # its start and stop are ours to report


def lost_lines() -> int:
    """Lines that whoever reads stdout did not take in time."""
    return sum([handler.lost for handler in logging.getLogger().handlers if isinstance(handler, Sink)])


def set_level(level: str) -> None:
    """Leave out everything below `level` from now on."""
    logging.getLogger().setLevel(level.upper())
