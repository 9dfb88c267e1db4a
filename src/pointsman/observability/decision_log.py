"""Decision records as JSON Lines: one per request, written off the loop, bounded on disk and in memory."""

import contextlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from pointsman.domain.decision import AttemptRecord, Estimate, PinUse, Scores
from pointsman.domain.outcome import Usage
from pointsman.domain.price import CostUnknown
from pointsman.domain.request import RequestFacts

log = logging.getLogger(__name__)

MAX_GATHERED = 10_000  # records; at 1 KB each 10 MB, a second or more of traffic
MAX_BATCHES = 2  # on their way to the disk; with what has gathered, some seconds of a disk that stalls or is full
RETRY_S = 1.0  # until the disk is asked again: somebody has to make room first
_encode_lines = msgspec.json.Encoder().encode_lines


class DecisionNote(Struct, frozen=True, gc=False):
    """One decision: who was in the running, who was not and by which rule, who was picked with which probability."""

    mode: str | None
    picked: str | None
    propensity: float
    candidates: tuple[str, ...]
    shares: tuple[float, ...]
    excluded: dict[str, str]  # target id -> rule
    estimates: tuple[Estimate, ...] = ()  # of each candidate, if the strategy compares prices
    scores: Scores | None = None  # None: the strategy compares nothing, or did not run
    pin: PinUse | None = None  # None: the request has no session that the policy cares for
    fallback: str | None = None  # the group that was turned to; None: the one that was asked for
    gates: dict[str, float] = {}  # target id -> probability that it is admitted, where that is below 1


class DecisionRecord(Struct, frozen=True, gc=False):
    """Everything about a request that may be kept: never a prompt, an answer, a key or a header."""

    time: str  # RFC 3339, UTC
    request_id: str
    config_version: int
    caller: str
    group: str | None  # None: refused before a group was known
    strategy: str | None
    facts: RequestFacts | None
    decisions: Sequence[DecisionNote]
    attempts: Sequence[AttemptRecord]
    status: int  # sent to the caller; 499: the caller left first
    reason: str
    duration_s: float
    usage: Usage | None
    cost_usd: float | None  # of the last attempt, as `usage`; None: not known, and `cost_unknown` says why
    cost_unknown: CostUnknown | None = None  # None: known, or nothing was sent
    wasted_usd: float = 0.0  # known costs of the attempts before


class DecisionLog:
    """Appends to a file; at half the limit it becomes `<name>.1`, so that both together stay within the limit.

    Records gather on the loop and go to a writing thread once per `flush`: a hand-over per record would make the two
    fight for the interpreter on every request.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self.max_bytes = max_bytes  # may change at any time
        self.on_kept: Callable[[Sequence[DecisionRecord], int], None] = _nothing  # called with the bytes of their lines
        self._lines = bytearray()
        self._count = 0  # of records in `_lines`
        self._queue: queue.SimpleQueue[tuple[bytearray, int] | None] = queue.SimpleQueue()  # lines as one, their number
        self._thread = threading.Thread(target=self._run, name="decision-log", daemon=True)
        self._file = -1
        self._closing = threading.Event()
        self.is_failing = False  # the disk takes nothing; a metric, too
        self.dropped = 0  # records that could not be kept; a metric, never silent

    def start(self) -> None:
        """Open the file. Raises OSError when it cannot be written, so that a wrong path stops the start."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        self._thread.start()

    def write(self, records: Sequence[DecisionRecord]) -> None:
        """Keep records for the next flush; never waits."""
        kept = records[: MAX_GATHERED - self._count]
        self.dropped += len(records) - len(kept)
        lines = _encode_lines(kept)
        self._lines += lines
        self.on_kept(kept, len(lines))
        self._count += len(kept)

    def check(self, now: float) -> None:
        """Once per tick: hand over what has gathered, unless the disk is behind."""
        if self._queue.qsize() < MAX_BATCHES:
            self._hand_over()

    def close(self) -> None:
        """Write everything and close; bounded, so that a dead disk cannot hold the exit."""
        if self._file < 0:
            return  # never opened
        self._hand_over()
        self._closing.set()
        self._queue.put(None)
        self._thread.join(timeout=10)
        os.close(self._file)

    def _hand_over(self) -> None:
        if self._count:
            self._queue.put((self._lines, self._count))
            self._lines, self._count = bytearray(), 0

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def _run(self) -> None:
        while (batch := self._queue.get()) is not None:
            lines, count = batch
            while not self._wrote(lines):
                if self._closing.is_set():
                    self.dropped += count
                    break
                self._closing.wait(RETRY_S)

    def _wrote(self, lines: bytearray) -> bool:
        """Whether the lines are on disk now. Only changes are told: a disk that is full is so for minutes."""
        try:
            self._append(lines)
        except OSError as error:
            if not self.is_failing:
                text = "decision records cannot be written, the next ones wait in memory: %s"
                log.error(text, error.strerror)  # noqa: TRY400  # the trace says nothing more
            self.is_failing = True
            return False
        if self.is_failing:
            log.info("decision records are written again; %d were lost", self.dropped)
        self.is_failing = False
        self._begin_anew()
        return True

    def _append(self, lines: bytearray) -> None:
        """All of them or nothing: no line is half there. The only work is a system call, while the loop goes on."""
        rest, end = memoryview(lines), os.lseek(self._file, 0, os.SEEK_END)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, end)
            raise

    def _begin_anew(self) -> None:
        """Another file once this one is full; where that cannot be had, this one goes on and it is tried again."""
        if os.lseek(self._file, 0, os.SEEK_END) <= self.max_bytes // 2:
            return
        full = self._file
        try:
            if self._path.exists():  # else it was renamed before, and no other one could be opened
                self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._open()
        except OSError as error:
            log.error("no new file of decision records can be begun: %s", error.strerror)  # noqa: TRY400
        else:
            os.close(full)


def _nothing(records: Sequence[DecisionRecord], size_bytes: int) -> None:
    """Nobody else keeps them."""
