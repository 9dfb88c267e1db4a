"""`Retry-After` in every form seen in the wild."""

import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest

from pointsman.routing.retry_after import retry_after_s

NOW_UTC = 1_800_000_000.0
IN_20_S = formatdate(NOW_UTC + 20, usegmt=True)


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.trap("25")
@pytest.mark.bug("B-06", "P-7")
@pytest.mark.case("T40")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.4", 0.4),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("1893456000", 300.0),
        ("99999999", 300.0),
        ("1e12", 300.0),
        (IN_20_S, 20.0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 300.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("Sun Nov  6 08:49:37 1994", 0.0),
        ("Wed, 21 Oct 999999 07:28:00 GMT", None),
        ("abc", None),
        ("", None),
        ("NaN", None),
        ("inf", None),
        ("-inf", None),
        ("9" * 400, None),
        (None, None),
    ],
)
def test_header_means_so_many_seconds(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, None, NOW_UTC) == seconds


@pytest.mark.bug("B-06", "P-7")
@pytest.mark.parametrize(
    ("seconds", "milliseconds", "expected"),
    [
        ("7", "1500", 1.5),
        (None, "1500", 1.5),
        ("7", "abc", 7.0),
        ("7", "", 7.0),
        ("7", "-1", 0.0),
        ("7", "nan", 7.0),
        (None, "999999999", 300.0),
        (None, "abc", None),
    ],
)
def test_milliseconds_win_when_they_can_be_understood(
    seconds: str | None, milliseconds: str, expected: float | None
) -> None:
    assert retry_after_s(seconds, milliseconds, NOW_UTC) == expected


@pytest.mark.bug("B-06", "P-7")
@pytest.mark.usefixtures("far_from_greenwich")
@pytest.mark.parametrize("date", [IN_20_S, IN_20_S.replace(" GMT", ""), IN_20_S.replace("GMT", "-0000")])
def test_date_is_utc_wherever_the_gateway_runs(date: str) -> None:
    assert retry_after_s(date, None, NOW_UTC) == 20
