"""What requests leave behind: decision records, metrics and, if wanted, log lines.

The request path only notes that a request has ended; notes are digested in one go on the watchdog's tick, where a
tight loop costs a third of what the same work costs in the middle of a request.
"""

import logging

from pointsman.domain.decision import AttemptRecord, Decision, FinishReason
from pointsman.domain.price import CostUnknown, why_unknown
from pointsman.domain.request import Caller, RequestFacts
from pointsman.domain.value import Leaf
from pointsman.observability.decision_log import DecisionLog, DecisionNote, DecisionRecord
from pointsman.observability.metrics import Metrics
from pointsman.observability.times import rfc3339
from pointsman.routing.exchange import Exchange

log = logging.getLogger(__name__)

CALLER_GONE_STATUS = 499  # nginx's number for it; never sent, since nobody is there to read it
_NO_GATES: dict[str, float] = {}  # nobody writes into it


class Ended(Leaf):
    """One request, at its end."""

    utc_s: float
    request_id: str
    config_version: int
    caller: Caller
    facts: RequestFacts | None  # None: the body could not be read
    exchange: Exchange | None  # None: refused before routing
    status: int
    reason: FinishReason
    duration_s: float


class Recorder:
    """Takes a note per request, whatever its end is, and digests them."""

    def __init__(self, decisions: DecisionLog, metrics: Metrics, *, logs_requests: bool) -> None:
        self._decisions, self._metrics, self.logs_requests = decisions, metrics, logs_requests
        self._ended: list[Ended] = []
        self.note = self._ended.append

    def check(self, now: float) -> None:
        """Watchdog: digest what has ended since the last tick, and hand it to the writer."""
        self.digest()
        self._decisions.check(now)

    def digest(self) -> None:
        """Turn every note into its record and counts; also called before a scrape and at the very end."""
        records = [_record(ended) for ended in self._ended]
        self._ended.clear()
        self._decisions.write(records)
        self._metrics.count(records)
        if self.logs_requests:
            for record in records:
                log.info("request", extra={"fields": _summary(record)})


def _record(ended: Ended) -> DecisionRecord:
    exchange, duration_s = ended.exchange, ended.duration_s
    when, caller, version = rfc3339(ended.utc_s), ended.caller.name, ended.config_version
    if exchange is None:
        return DecisionRecord(
            when, ended.request_id, version, caller, None, None, ended.facts, (), (), ended.status, ended.reason,
            duration_s, None, None,
        )  # fmt: skip
    group, outcomes, attempts = exchange.group, exchange.outcomes, exchange.attempts
    cost_usd, cost_unknown, wasted_usd = _costs(exchange, attempts)
    return DecisionRecord(
        when, ended.request_id, version, caller, group.name, group.policy.strategy, ended.facts,
        [_note(decision, group.name) for decision in exchange.decisions], attempts, ended.status, ended.reason,
        duration_s, outcomes[-1].usage if outcomes else None, cost_usd, cost_unknown, wasted_usd,
    )  # fmt: skip


def _costs(exchange: Exchange, attempts: list[AttemptRecord]) -> tuple[float | None, CostUnknown | None, float]:
    """What the last attempt cost, or why that is not known; and all attempts before it."""
    if not attempts:
        return None, None, 0.0
    cost_usd = attempts[-1].cost_usd
    unknown = why_unknown(exchange.picks[-1].target.price) if cost_usd is None else None
    wasted_usd = sum([attempt.cost_usd or 0.0 for attempt in attempts[:-1]]) if len(attempts) > 1 else 0.0
    return cost_usd, unknown, wasted_usd


def _note(decision: Decision, asked: str) -> DecisionNote:
    pick, name = decision.pick, decision.group.name
    fallback = None if name == asked else name
    excluded: dict[str, str] = (
        {excluded.target_id: excluded.rule for excluded in decision.excluded} if decision.excluded else {}
    )
    if pick is None:
        return DecisionNote(
            None, None, 0.0, decision.candidates, decision.shares, excluded, scores=decision.scores, pin=decision.pin,
            fallback=fallback,
        )  # fmt: skip
    return DecisionNote(
        pick.mode, pick.target.id, pick.propensity, decision.candidates, decision.shares, excluded, decision.estimates,
        decision.scores, decision.pin, fallback, {**decision.gates} if decision.gates else _NO_GATES,
    )  # fmt: skip


def _summary(record: DecisionRecord) -> dict[str, object]:
    last = record.attempts[-1] if record.attempts else None
    return {
        "request_id": record.request_id,
        "group": record.group,
        "target": last.target_id if last else None,
        "attempts": len(record.attempts),
        "status": record.status,
        "reason": record.reason,
        "duration_ms": round(record.duration_s * 1000, 1),
    }
