"""Instants as people and programs read them."""

import time
from functools import lru_cache


def rfc3339(utc_s: float) -> str:
    """UTC with milliseconds, e.g. 2026-11-30T12:00:00.123Z."""
    return _to_milliseconds(int(utc_s * 1000))


@lru_cache(maxsize=2)  # records come in the order of time, many per millisecond
def _to_milliseconds(utc_ms: int) -> str:
    seconds, rest = divmod(utc_ms, 1000)
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{rest:03d}Z", time.gmtime(seconds))
