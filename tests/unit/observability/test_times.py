"""Instants as text."""

import pytest

from pointsman.observability.times import rfc3339


@pytest.mark.parametrize(
    ("utc_s", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_796_040_000.9999, "2026-11-30T12:00:00.999Z"),
        (1_796_040_001.0, "2026-11-30T12:00:01.000Z"),
    ],
)
def test_times_are_utc_with_milliseconds(utc_s: float, text: str) -> None:
    assert rfc3339(utc_s) == text
