"""What the view shows at one instant, made from decision records and the views of the board. Pure."""

import statistics
from collections import deque
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from pointsman.demo import story
from pointsman.domain.decision import AttemptRecord, FinishReason
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.view import TargetView
from pointsman.observability.decision_log import DecisionRecord

WINDOW_S = 10.0  # some dozens of requests, and short enough to see a share move
KEPT_LINES = 50  # more than can be told between two looks

# ends of an attempt that are no fault of its target
_BLAMELESS = frozenset({OutcomeClass.OK, OutcomeClass.CALLER_GONE, OutcomeClass.CALLER_FAULT})


class Kind(Enum):
    """What a line tells."""

    EVENT = "event"  # something happens to a provider
    STATE = "state"  # the gateway changes its mind about a target
    REQUEST = "request"  # what that meant for one request


class Line(Struct, frozen=True):
    """One sentence of the story."""

    number: int  # counts from 1
    at_s: float  # after the demo began
    text: str
    kind: Kind


class Row(Struct, frozen=True):
    """One target, over the last `WINDOW_S`."""

    target_id: str
    share: float  # of all attempts
    attempts: int
    error_ratio: float | None  # None: no attempts
    ttft_s: float | None  # median of streams; None: there were none
    view: TargetView
    pause_left_s: int  # meaningless unless the breaker is open
    last_outcome: str | None  # None: never tried


class Callers(Struct, frozen=True):
    """What the callers of the demo's own traffic got, since the start."""

    requests: int = 0
    failed: int = 0


class Picture(Struct, frozen=True):
    """Everything that the view shows."""

    elapsed_s: float
    rows: tuple[Row, ...]
    callers: Callers
    failovers: int  # of requests that were answered in the end, since the start
    decision: str  # the latest one
    lines: tuple[Line, ...]


class _Seen(Struct, frozen=True):
    """One attempt, and when it was heard of."""

    at: float
    attempt: AttemptRecord
    is_stream: bool


class Observer:
    """Records and views in, pictures out. Times are monotonic seconds."""

    def __init__(self, target_ids: Iterable[str], began_at: float) -> None:
        self._began_at = began_at
        self._views = {target_id: TargetView() for target_id in target_ids}
        self._last_outcomes: dict[str, str] = {}
        self._window: deque[_Seen] = deque()
        self._lines: deque[Line] = deque(maxlen=KEPT_LINES)
        self._told = 0
        self._decision = ""
        self._failovers = 0

    def tell(self, text: str, kind: Kind, at: float) -> None:
        """Add a sentence to the story."""
        self._told += 1
        self._lines.append(Line(self._told, at - self._began_at, text, kind))

    def record(self, record: DecisionRecord, now: float) -> None:
        """A request has ended."""
        is_stream = record.facts is not None and record.facts.stream
        for attempt in record.attempts:
            self._window.append(_Seen(now, attempt, is_stream))
            self._last_outcomes[attempt.target_id] = attempt.outcome_class
        if record.decisions:
            self._decision = story.of_decision(record.decisions[-1])
        if record.reason == FinishReason.OK:
            self._failovers += len(record.attempts) - 1
        if (text := story.of_request(record)) is not None:
            self.tell(text, Kind.REQUEST, now)

    def look(self, views: Mapping[str, TargetView], now: float) -> None:
        """The board has been read."""
        for target_id, view in views.items():
            text = story.of_change(target_id, self._views[target_id], view, now)
            if text is not None:
                self.tell(text, Kind.STATE, now)
            self._views[target_id] = view

    def picture(self, callers: Callers, now: float) -> Picture:
        """All of it, at one instant."""
        while self._window and self._window[0].at <= now - WINDOW_S:
            self._window.popleft()
        rows = tuple(self._row(target_id, now) for target_id in self._views)
        lines = tuple(self._lines)
        return Picture(now - self._began_at, rows, callers, self._failovers, self._decision, lines)

    def _row(self, target_id: str, now: float) -> Row:
        seen = [seen for seen in self._window if seen.attempt.target_id == target_id]
        errors = sum(found.attempt.outcome_class not in _BLAMELESS for found in seen)
        ttfts_s = [found.attempt.ttft_s for found in seen if found.is_stream and found.attempt.ttft_s is not None]
        view = self._views[target_id]
        return Row(
            target_id=target_id,
            share=len(seen) / len(self._window) if seen else 0.0,
            attempts=len(seen),
            error_ratio=errors / len(seen) if seen else None,
            ttft_s=statistics.median(ttfts_s) if ttfts_s else None,
            view=view,
            pause_left_s=story.pause_left_s(view, now),
            last_outcome=self._last_outcomes.get(target_id),
        )
