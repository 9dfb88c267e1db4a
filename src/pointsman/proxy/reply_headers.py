"""Response headers: who served and why, on every answer, errors included (I-09)."""

import re

from pointsman.domain.decision import DecisionMode
from pointsman.domain.derived import derived
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.target import Target

JSON = b"content-type: application/json\r\n"
CHALLENGE = b"www-authenticate: Bearer\r\n"  # RFC 9110 11.6.1: every 401 says how to do better
EVENT_STREAM = (
    b"content-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache, no-transform\r\n"  # no proxy may gather or compress events (E-14)
    b"x-accel-buffering: no\r\n"
)


_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.=:/ -]")
_MAX_NAMES_CHARS = 500  # a head has room for it everywhere


def lines(content_type: bytes, request_id: str, attempts: int, who: bytes, reason: str, limits: bytes) -> bytes:
    """Header lines of an answer.

    `who` comes from the function of that name, `reason` is what had gone wrong before (empty: nothing), `limits` are
    those header lines of the serving upstream that go on; everything else of its head stays here.
    """
    told = b"x-pointsman-reason: %b\r\n" % reason.encode() if reason else b""
    id_ = request_id.encode()
    return b"%bx-request-id: %b\r\nrequest-id: %b\r\nx-pointsman-attempts: %d\r\n%b%b%b" % (
        content_type, id_, id_, attempts, who, told, limits,
    )  # fmt: skip


def cost_line(cost_usd: float | None) -> bytes:
    """In USD, without an exponent; empty: not known, which is not 0."""
    return b"" if cost_usd is None else b"x-pointsman-cost: %.9f\r\n" % cost_usd


def dropped_line(parameters: tuple[str, ...]) -> bytes:
    """Which parameters of the request the target never saw. Names are the caller's own, so they are made plain."""
    names = ",".join(_NOT_PLAIN.sub("?", name) for name in parameters)[:_MAX_NAMES_CHARS]
    return b"x-pointsman-dropped: %b\r\n" % names.encode()


def retry_lines(error: GatewayError) -> bytes:
    """What tells clients whether and when to come again."""
    told = b"x-should-retry: %b\r\n" % (b"true" if error.should_retry else b"false")
    seconds = error.retry_after_header
    if seconds is not None:
        told += b"retry-after: %d\r\nretry-after-ms: %d\r\n" % (seconds, seconds * 1000)
    return told


def error_lines(request_id: str, error: GatewayError, *, shows_details: bool) -> bytes:
    """Header lines of an error that came before any routing."""
    reason = error.code or "" if shows_details else ""
    told = lines(JSON, request_id, 0, b"", reason, b"") + retry_lines(error)
    return told + CHALLENGE if error.kind is ErrorKind.INVALID_API_KEY else told


@derived(maxsize=4096)  # of names from the configuration and of modes, never of anything a caller sends
def who(group: str, target: Target | None, mode: DecisionMode | None, shows_details: bool) -> bytes:  # noqa: FBT001
    """Which group was asked, and, for those who may know, which target served and which rule picked it."""
    named = {"model": group}
    if shows_details:
        named |= {"target": target.id, "provider": target.provider} if target is not None else {}
        named |= {"mode": mode} if mode is not None else {}
    return "".join(f"x-pointsman-{name}: {value}\r\n" for name, value in named.items() if value).encode("latin-1")
