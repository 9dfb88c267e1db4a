"""`Retry-After` in every form seen in the wild: a number of seconds from now, or nothing (B-06)."""

import math
from email.utils import mktime_tz, parsedate_tz

MAX_RETRY_AFTER_S = 300.0


def retry_after_s(seconds_or_date: str | None, milliseconds: str | None, now_utc: float) -> float | None:
    """Seconds in [0, 300]; None when no header can be understood. `retry-after-ms` is the finer one and wins."""
    value = _number(milliseconds)
    if value is not None:
        return _clamped(value / 1000.0)
    value = _number(seconds_or_date)
    if value is None:
        value = _date(seconds_or_date, now_utc)
    return None if value is None else _clamped(value)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(text: str | None, now_utc: float) -> float | None:
    try:
        parsed = parsedate_tz(text or "")  # a date without a zone is UTC, as RFC 9110 has it
        return None if parsed is None else mktime_tz(parsed) - now_utc
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _clamped(value: float) -> float:
    return min(max(value, 0.0), MAX_RETRY_AFTER_S)
