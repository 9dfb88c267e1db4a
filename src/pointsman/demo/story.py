"""Records and changes of state as sentences for people. Pure."""

import math

from pointsman.domain.decision import AttemptRecord, DecisionMode, FinishReason
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.view import Breaker, PauseCause, TargetView
from pointsman.observability.decision_log import DecisionNote, DecisionRecord

_SHIFT = 0.2  # of all attempts: less may be the draw of some dozens of requests
PAUSED_AFTER = {
    PauseCause.FAULTS: "faults",
    PauseCause.OUTLIER: "far more faults than the others",
    PauseCause.RATE_LIMIT: "a rate limit",
    PauseCause.CREDENTIAL: "a refused key",
    PauseCause.MISSING: "a missing model",
}


def name_of(target_id: str) -> str:
    """The provider alone: each has one model only."""
    return target_id.partition("/")[0]


def of_request(record: DecisionRecord) -> str | None:
    """What is worth telling about a request; None: it was answered at once."""
    if record.reason == FinishReason.CALLER_GONE:
        return "a caller left before the end of its answer"
    failed = " and ".join(_failure(attempt) for attempt in record.attempts if attempt.outcome_class != OutcomeClass.OK)
    if record.reason != FinishReason.OK:
        return f"a caller got an error, {record.reason}: {failed or 'nobody was asked'}"
    return f"{name_of(record.attempts[-1].target_id)} answered in place of {failed}" if failed else None


def _failure(attempt: AttemptRecord) -> str:
    what = "whose probe" if attempt.mode is DecisionMode.PROBE else "which"
    return f"{name_of(attempt.target_id)}, {what} failed ({attempt.detail.removeprefix('status_')})"


def of_decision(note: DecisionNote) -> str:
    """Who was picked by which rule, the shares of those in the running, and who was not."""
    shares = zip(note.candidates, note.shares, strict=True)
    running = ", ".join(f"{name_of(target_id)} {percent(share)}" for target_id, share in shares)
    picked = "nobody" if note.picked is None else f"{name_of(note.picked)} ({note.mode})"
    excluded = ", ".join(f"{name_of(target_id)} {rule}" for target_id, rule in note.excluded.items())
    return picked + (f" of {running}" if running else "") + (f"; out: {excluded}" if excluded else "")


def of_change(target_id: str, before: TargetView, after: TargetView, now: float) -> str | None:
    """What has become of a target since it was last looked at; None: nothing worth telling."""
    name = name_of(target_id)
    was_held = before.breaker is Breaker.OPEN and now < before.paused_until
    if after.breaker is Breaker.OPEN and after.pause_cause is not None and not was_held:
        return f"{name} is paused for {pause_left_s(after, now)} s after {PAUSED_AFTER[after.pause_cause]}"
    if after.breaker is Breaker.CLOSED and before.breaker is not Breaker.CLOSED:
        return f"{name} answers again: its pause is over"
    return None


def of_shift(provider: str, before: float, after: float) -> str | None:
    """What has become of a provider's share since something happened to it; None: nothing worth telling."""
    if abs(after - before) < _SHIFT:
        return None
    return f"{provider}'s share went from {percent(before)} to {percent(after)}"


def pause_left_s(view: TargetView, now: float) -> int:
    """Whole seconds, rounded up: a pause never has 0 s left."""
    return max(1, math.ceil(view.paused_until - now))


def percent(ratio: float) -> str:
    return f"{ratio:.0%}".replace("%", " %")


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
