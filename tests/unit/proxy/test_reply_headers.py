"""What a caller learns from the headers of an answer."""

import pytest

from pointsman.domain.decision import DecisionMode
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.proxy import reply_headers
from pointsman.proxy.reply_headers import EVENT_STREAM, JSON
from pointsman.testing import builders

LIMITS = {b"x-ratelimit-remaining-requests": b"9", b"x-ratelimit-reset-tokens": b"6m0s"}
NOT_FOUND = GatewayError(ErrorKind.MODEL_NOT_FOUND, "no")


def answer(*, limits: bytes = b"", full: bool = True, content_type: bytes = JSON) -> dict[bytes, bytes]:
    """The headers of an answer that the second attempt gave; `limits` are header lines of the provider."""
    who = reply_headers.who("chat", builders.target("b/org/n"), DecisionMode.WEIGHTED, full)
    reason = "upstream_fault:status_500" if full else ""
    return fields(reply_headers.lines(content_type, "req-1", 2, who, reason, limits))


def fields(lines: bytes) -> dict[bytes, bytes]:
    """Headers by name; each may come once only, and every line must be whole."""
    assert lines.endswith(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines[:-2].split(b"\r\n")]
    assert len({pair[0] for pair in pairs}) == len(pairs)
    return {pair[0]: pair[1] for pair in pairs}


@pytest.mark.bug("I-09")
def test_full_headers_tell_who_served_and_why() -> None:
    assert answer() == {
        b"content-type": b"application/json",
        b"x-request-id": b"req-1",
        b"request-id": b"req-1",
        b"x-pointsman-attempts": b"2",
        b"x-pointsman-model": b"chat",
        b"x-pointsman-target": b"b/org/n",
        b"x-pointsman-provider": b"b",
        b"x-pointsman-mode": b"weighted",
        b"x-pointsman-reason": b"upstream_fault:status_500",
    }


def test_minimal_headers_name_neither_target_nor_provider_nor_reason() -> None:
    assert answer(full=False) == {
        b"content-type": b"application/json",
        b"x-request-id": b"req-1",
        b"request-id": b"req-1",
        b"x-pointsman-attempts": b"2",
        b"x-pointsman-model": b"chat",
    }


def test_before_any_attempt_only_the_group_is_named() -> None:
    assert reply_headers.who("chat", None, None, True) == b"x-pointsman-model: chat\r\n"


@pytest.mark.bug("B-04")
def test_error_that_heals_tells_when_in_whole_seconds_and_in_milliseconds() -> None:
    error = GatewayError(ErrorKind.UPSTREAM_RATE_LIMITED, "later", retry_after_s=1.2)

    assert fields(reply_headers.retry_lines(error)) == {
        b"x-should-retry": b"true",
        b"retry-after": b"2",
        b"retry-after-ms": b"2000",
    }


def test_error_that_does_not_heal_gives_no_time() -> None:
    assert fields(reply_headers.retry_lines(NOT_FOUND)) == {b"x-should-retry": b"false"}


@pytest.mark.bug("I-09")
def test_error_before_routing_gives_its_code_as_the_reason() -> None:
    found = fields(reply_headers.error_lines("req-1", NOT_FOUND, shows_details=True))

    assert found[b"x-pointsman-reason"] == b"model_not_found"
    assert (found[b"x-request-id"], found[b"x-pointsman-attempts"]) == (b"req-1", b"0")


def test_error_before_routing_gives_no_reason_to_those_who_may_not_know() -> None:
    found = fields(reply_headers.error_lines("req-1", NOT_FOUND, shows_details=False))

    assert b"x-pointsman-reason" not in found


@pytest.mark.parametrize(
    ("kind", "told"), [(ErrorKind.INVALID_API_KEY, b"Bearer"), (ErrorKind.PERMISSION_DENIED, None)]
)
def test_refused_key_is_told_how_to_send_one(kind: ErrorKind, told: bytes | None) -> None:
    found = fields(reply_headers.error_lines("req-1", GatewayError(kind, "no"), shows_details=False))

    assert found.get(b"www-authenticate") == told


@pytest.mark.bug("E-14")
def test_streams_forbid_gathering_and_compressing() -> None:
    found = answer(content_type=EVENT_STREAM)

    assert found[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert found[b"cache-control"] == b"no-cache, no-transform"
    assert found[b"x-accel-buffering"] == b"no"


@pytest.mark.parametrize("full", [False, True])
def test_limits_of_the_upstream_go_on(*, full: bool) -> None:
    found = answer(limits=b"".join(b"%b: %b\r\n" % limit for limit in LIMITS.items()), full=full)

    assert found == {**answer(full=full), **LIMITS}


@pytest.mark.parametrize("request_id", ["req-1", "a.b:c_d-E9", "x" * 128])
def test_request_id_is_told_under_both_names(request_id: str) -> None:
    found = fields(reply_headers.lines(JSON, request_id, 1, b"", "", b""))

    assert found[b"x-request-id"] == found[b"request-id"] == request_id.encode()


@pytest.mark.bug("C-10")
@pytest.mark.parametrize(
    ("cost_usd", "line"),
    [
        (0.000134, b"x-pointsman-cost: 0.000134000\r\n"),
        (0.0, b"x-pointsman-cost: 0.000000000\r\n"),
        (12.5, b"x-pointsman-cost: 12.500000000\r\n"),
        (None, b""),
    ],
)
def test_cost_is_in_usd_without_an_exponent_and_left_out_when_it_is_not_known(
    cost_usd: float | None, line: bytes
) -> None:
    assert reply_headers.cost_line(cost_usd) == line
