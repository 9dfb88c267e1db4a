"""Reads the decision records of a running gateway, as anybody could."""

import os
from pathlib import Path

import msgspec

from pointsman.observability.decision_log import DecisionRecord

_decode = msgspec.json.Decoder(DecisionRecord).decode


class RecordFile:
    """Follows a file of records, also when a full one is replaced by a new one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        self._rest = b""  # a line of which only the beginning has been written

    def close(self) -> None:
        self._file.close()

    def news(self) -> list[DecisionRecord]:
        """What has been written since the last call."""
        is_replaced = self._is_replaced()
        written = self._file.read()  # only now: nothing is added to a file that has been replaced
        if is_replaced:
            self._file.close()
            self._file = self._path.open("rb")
            written += self._file.read()
        *lines, self._rest = (self._rest + written).split(b"\n")
        return [_decode(line) for line in lines]

    def _is_replaced(self) -> bool:
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:  # renamed, and the new one is not there yet
            return False
