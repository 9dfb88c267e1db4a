"""Answers to requests with tools, judged after they have left: on the watchdog's tick, a few at a time."""

from collections import deque

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.overheard import MAX_BYTES
from pointsman.dialects.tool_answers import TOOLS, can_be_judged, judged
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Leaf
from pointsman.domain.view import Signal
from pointsman.signals.board import SignalBoard

_MAX_BYTES_PER_TICK = 1 << 20  # some 5 ms
_MAX_TOOLS_BYTES = 1 << 18  # agents declare 100 kB of them
_MAX_KEPT_BYTES = 16 << 20  # when more wait than can be judged, some are not: it is an estimate


class Heard(Leaf):
    """One answer that came whole."""

    parsed: ParsedRequest
    target: Target
    group: ModelGroup
    said: tuple[bytes, ...]
    size_bytes: int


class ToolJudge:
    """Takes notes on the request path, and reads answers off it."""

    def __init__(self, board: SignalBoard) -> None:
        self._board = board
        self._waiting: deque[Heard] = deque()
        self._waiting_bytes = 0

    def listens(self, parsed: ParsedRequest, group: ModelGroup) -> bool:
        """Whether somebody wants to know how good the answer is."""
        if Signal.QUALITY not in group.policy.reads or not can_be_judged(parsed.facts.dialect):
            return False
        return TOOLS in parsed.fields and memoryview(parsed.fields[TOOLS]).nbytes <= _MAX_TOOLS_BYTES

    def note(self, parsed: ParsedRequest, target: Target, group: ModelGroup, said: tuple[bytes, ...]) -> None:
        """The target has answered."""
        size_bytes = len(parsed.body) + sum(map(len, said))
        is_short = 0 < sum(map(len, said)) <= MAX_BYTES
        if is_short and self._waiting_bytes + size_bytes <= _MAX_KEPT_BYTES:
            self._waiting.append(Heard(parsed, target, group, said, size_bytes))
            self._waiting_bytes += size_bytes

    def check(self, now: float) -> None:
        """Watchdog: read some of what has come."""
        read_bytes = 0
        while self._waiting and read_bytes < _MAX_BYTES_PER_TICK:
            heard = self._waiting.popleft()
            self._waiting_bytes -= heard.size_bytes
            read_bytes += heard.size_bytes
            found = judged(heard.parsed, heard.said)
            if found is not None:
                self._board.judged(heard.target, heard.group, now, is_broken=found.fault is not None)
