"""`GET /api/v1/decisions`: the last decision records, newest first, filtered and in pages."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import reduce

from pointsman.config.values import BadValueError, instant_utc_s
from pointsman.control.problems import ProblemError, bad
from pointsman.control.query import Query
from pointsman.observability.decision_log import DecisionRecord
from pointsman.observability.recent import Page, RecentDecisions, Wanted

DEFAULT_LIMIT = 50  # a screen or two
MAX_LIMIT = 1_000  # about 1 MB

FILTERS: Mapping[str, Callable[[str], Wanted]] = {  # one call per record and filter: there are thousands
    "group": lambda wanted: lambda record: record.group == wanted,
    "caller": lambda wanted: lambda record: record.caller == wanted,
    "target": lambda wanted: lambda record: wanted in [attempt.target_id for attempt in record.attempts],
    "mode": lambda wanted: lambda record: wanted in [decision.mode for decision in record.decisions],
    "outcome": lambda wanted: lambda record: wanted in [attempt.outcome_class for attempt in record.attempts],
    "reason": lambda wanted: lambda record: record.reason == wanted,
    "since": lambda wanted: lambda record: record.time >= wanted,  # both in one form of UTC, which sorts as text
}
PARAMETERS = (*FILTERS, "limit", "before")


def page(query: Query, recent: RecentDecisions) -> Page:
    """Raises ProblemError (400)."""
    wanted = {name: text for name in FILTERS if (text := query.text(name)) is not None}
    if "since" in wanted:
        wanted["since"] = _instant(wanted["since"])
    is_wanted = reduce(_both, [FILTERS[name](text) for name, text in wanted.items()] or [_anything])
    limit = query.number("limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    before = query.number("before", None, 1, 10**18)
    return recent.page(is_wanted, limit=limit or DEFAULT_LIMIT, before=before)


def one(request_id: str, recent: RecentDecisions) -> DecisionRecord:
    """Raises ProblemError (404)."""
    record = recent.find(request_id)
    if record is None:
        text = f"The last {len(recent)} decisions have none of this request id; older ones are in the record file."
        raise ProblemError(404, text)
    return record


def _anything(_: DecisionRecord) -> bool:
    return True


def _both(first: Wanted, second: Wanted) -> Wanted:
    return lambda record: first(record) and second(record)


def _instant(written: str) -> str:
    try:
        moment = datetime.fromtimestamp(instant_utc_s(written), UTC)
    except (BadValueError, ValueError, OverflowError):
        raise bad("'since' must be an instant such as 2027-01-31T18:00:00Z.") from None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
