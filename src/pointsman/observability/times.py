"""Instants as people and programs read them."""

import time
from functools import lru_cache


def rfc3339(utc_s: float) -> str:
    """UTC with milliseconds, e.g. 2026-11-30T12:00:00.123Z."""
    utc_ms = int(utc_s * 1000)
    return f"{_to_seconds(utc_ms // 1000)}.{str(1000 + utc_ms % 1000)[1:]}Z"  # `:03d` takes four times as long


@lru_cache(maxsize=2)  # records come in the order of time, many per second
def _to_seconds(utc_s: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(utc_s))
