"""What a provider says is left of its limits, in the headers of OpenAI and of Anthropic (pure)."""

import math
import re
from collections.abc import Callable, Iterator
from email.utils import mktime_tz

from pointsman.domain.octets import holds
from pointsman.domain.outcome import LimitedUnit, ToldLimit
from pointsman.domain.value import Value

MARK = b"-ratelimit-"  # in every name below, and in those of no other header

_MAX_RESET_S = 300.0  # as for Retry-After: a provider may not park itself for longer on its own word
_PLENTY = 0.2  # of the limit: more is left than the next seconds need
_PARTS = (("h", 3600.0), ("ms", 0.001), ("m", 60.0), ("s", 1.0))  # as `6m0s`, `20ms`, `1h2m`
_DURATION = re.compile(
    r"(?:(?P<h>[0-9.]{1,15})h)?(?:(?P<m>[0-9.]{1,15})m(?!s))?(?:(?P<s>[0-9.]{1,15})s)?(?:(?P<ms>[0-9.]{1,15})ms)?"
)
_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,9})?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_UNITS = {
    b"requests": LimitedUnit.REQUESTS,
    b"tokens": LimitedUnit.TOKENS,
    b"input-tokens": LimitedUnit.TOKENS,
    b"output-tokens": LimitedUnit.TOKENS,
}
_FORMS = (b"x-ratelimit-%(part)b-%(unit)b", b"anthropic-ratelimit-%(unit)b-%(part)b")


class _Names(Value):
    """The headers of one limit."""

    unit: LimitedUnit
    remaining: bytes
    limit: bytes
    reset: bytes


_NAMES = tuple(
    _Names(unit, *[form % {b"part": part, b"unit": name} for part in (b"remaining", b"limit", b"reset")])
    for form in _FORMS
    for name, unit in _UNITS.items()
)


def told_limits(lowered: bytes, get: Callable[[bytes], bytes | None], now_utc: float) -> tuple[ToldLimit, ...]:
    """Limits of which little is left. What cannot be read was not said.

    `lowered`: all headers as they came, in lower case; `get`: one of them by its name.
    """
    return tuple(_told(lowered, get, now_utc)) if holds(lowered, MARK) else ()


def _told(lowered: bytes, get: Callable[[bytes], bytes | None], now_utc: float) -> Iterator[ToldLimit]:
    for names in _NAMES:
        if not holds(lowered, names.remaining):  # most: a provider has one form, and not every unit of it
            continue
        remaining = _number(get(names.remaining))
        if remaining is None or remaining > _PLENTY * (_number(get(names.limit)) or math.inf):
            continue
        reset_s = _reset_s(get(names.reset), now_utc)
        if reset_s is not None and reset_s > 0.0:
            yield ToldLimit(names.unit, remaining, min(reset_s, _MAX_RESET_S))


def _number(value: bytes | None) -> float | None:
    try:
        number = float(value or b"")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0.0 else None


def _reset_s(value: bytes | None, now_utc: float) -> float | None:
    """Seconds from now: of a number, a duration, or an instant of RFC 3339."""
    text = (value or b"").decode("latin-1")
    number = _number(value)
    if number is not None:
        return number
    try:
        match = _DURATION.fullmatch(text) if text else None
        if match is not None:
            return sum([float(match[unit] or 0.0) * seconds for unit, seconds in _PARTS])
        return _utc_s(text) - now_utc
    except (ValueError, OverflowError):
        return None


def _utc_s(text: str) -> float:
    """Seconds since 1970 of an instant of RFC 3339. Raises ValueError."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError("this is no instant")
    *moment, sign, hours, minutes = match.groups(default="0")
    offset_s = (int(hours) * 60 + int(minutes)) * 60
    year, month, day, hour, minute, second = map(int, moment)
    return mktime_tz((year, month, day, hour, minute, second, 0, 1, 0, -offset_s if sign == "-" else offset_s))
