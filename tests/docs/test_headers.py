"""docs/headers.md: what callers may send and what they get, seen on a running gateway."""

import re

import pytest

from pointsman.dialects.codec import Codec
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.session import SOURCES
from pointsman.domain.conversation import AUTO
from pointsman.domain.errors import MAX_RETRY_AFTER_S
from pointsman.http1.head import _SINGLE, MAX_HEAD_BYTES, MAX_HEADERS, MAX_TARGET_BYTES
from tests.docs import gateway, pages

PAGE = "docs/headers.md"
RESPONSE_ROWS = pages.table(PAGE, "Response headers")
DOCUMENTED = [name for row in RESPONSE_ROWS for name in pages.codes(row["header"])]

# how the column "on" is meant: the answers of a gateway with full headers that have the header
EVERYTHING, ROUTED, ERRORS = frozenset(gateway.REQUESTS), gateway.ROUTED, gateway.ERRORS
ON: dict[str, frozenset[str]] = {
    "everything": EVERYTHING,
    "everything but probes": EVERYTHING - gateway.PROBES,
    "after routing": ROUTED,
    "after routing, `full`": ROUTED,
    "after a fault, `full`": ERRORS | {"failed over"},
    "bridged with losses": frozenset(("carried",)),
    "asked for, `full`": frozenset(("explained",)),
    "errors": ERRORS,
    "errors that heal at a known time": frozenset(("rate limited",)),
    "401": frozenset(("no key",)),
    "405": frozenset(("wrong method",)),
    "streams": gateway.STREAMS,
    "successes but of Messages": ROUTED - ERRORS - gateway.MESSAGES,
    "successes of Messages": gateway.MESSAGES,
    "whole answers with a known cost, `full`": ROUTED - ERRORS - gateway.STREAMS,
}
ELSEWHERE = "as HTTP wants"


def is_documented(name: str) -> bool:
    return any(re.fullmatch(known.replace("*", ".*"), name) for known in DOCUMENTED)


def test_every_response_header_is_documented() -> None:
    run = gateway.run()

    sent = {name for reply in run.replies for name in run.names(reply)}

    assert {name for name in sent if not is_documented(name)} == set()


def test_every_documented_response_header_is_sent() -> None:
    run = gateway.run()

    sent = {name for reply in run.replies for name in run.names(reply)}

    assert [
        known for known in DOCUMENTED if not any(re.fullmatch(known.replace("*", ".*"), name) for name in sent)
    ] == []


def test_no_response_header_is_documented_twice() -> None:
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)


@pytest.mark.parametrize("reply", gateway.REQUESTS)
@pytest.mark.parametrize(
    "header", [name for row in RESPONSE_ROWS if row["on"] != ELSEWHERE for name in pages.codes(row["header"])]
)
def test_response_header_is_on_the_documented_answers_only(header: str, reply: str) -> None:
    (row,) = [row for row in RESPONSE_ROWS if header in pages.codes(row["header"])]
    run = gateway.run()

    sent = [name for name in run.names(reply) if re.fullmatch(header.replace("*", ".*"), name)]

    assert bool(sent) is (reply in ON[row["on"]])


@pytest.mark.parametrize("reply", gateway.REQUESTS)
def test_minimal_leaves_out_what_is_documented_as_full_and_nothing_else(reply: str) -> None:
    full_only = {name for row in RESPONSE_ROWS if "`full`" in row["on"] for name in pages.codes(row["header"])}

    assert gateway.run("minimal").names(reply) == gateway.run().names(reply) - full_only


def test_every_content_type_is_documented() -> None:
    (row,) = [row for row in RESPONSE_ROWS if row["header"] == "`content-type`"]
    run = gateway.run()

    sent = {(reply.header("content-type") or b"").decode().partition(";")[0] for reply in run.replies.values()}

    assert sent == set(pages.codes(row["meaning"]))


def test_documented_values_for_proxies_are_those_sent() -> None:
    (row,) = [row for row in RESPONSE_ROWS if row["on"] == "streams"]
    streamed = gateway.run().replies["streamed"]

    sent = [(streamed.header(name) or b"").decode() for name in pages.codes(row["header"])]

    assert sent == pages.codes(row["meaning"])


def test_both_headers_of_the_request_id_carry_that_of_the_decision_record() -> None:
    run = gateway.run()
    ids = {record.request_id for record in run.records}

    for name in gateway.ROUTED:
        reply = run.replies[name]
        assert reply.header("x-request-id") == reply.header("request-id")
        assert (reply.header("x-request-id") or b"").decode() in ids


def test_errors_at_the_edge_have_an_id_of_their_own_and_no_record() -> None:
    run = gateway.run()
    ids = {record.request_id.encode() for record in run.records}

    refused = [run.replies[name].header("x-request-id") for name in ("no host", "too long")]

    assert len({*refused, None}) == 3
    assert ids.isdisjoint(refused)


def test_allow_names_the_methods_of_the_path() -> None:
    assert gateway.run().replies["wrong method"].header("allow") == b"POST"


def test_documented_bounds_of_retry_after_are_those_of_the_code() -> None:
    (row,) = [row for row in RESPONSE_ROWS if "retry-after" in pages.codes(row["header"])]

    assert f"1 to {MAX_RETRY_AFTER_S} s" in row["meaning"]


def test_answers_are_errors_exactly_where_they_are_meant_to_be() -> None:
    run = gateway.run()

    assert {name for name, reply in run.replies.items() if reply.status >= 400} == ERRORS


# --- requests


def test_every_request_header_that_is_passed_on_is_documented() -> None:
    rows = [row for row in pages.table(PAGE, "Request headers") if "assed on" in row["what Pointsman does with it"]]

    documented = {name for row in rows for name in pages.codes(row["header"])}

    assert documented == {name.decode() for codec in DIALECTS.values() for name in codec.passed_on}


@pytest.mark.parametrize("codec", DIALECTS.values(), ids=DIALECTS)
def test_provider_gets_nothing_else_of_the_callers_head(codec: Codec) -> None:
    sent = dict(gateway.REQUEST_HEADERS)
    first = next(request for request in gateway.run().received if request.path.endswith(codec.path))

    received = {name.decode().lower(): value.decode() for name, value in first.headers}

    assert {name for name, value in sent.items() if received.get(name) == value} == set(
        map(bytes.decode, codec.passed_on)
    )


def test_plain_request_id_of_the_caller_is_kept() -> None:
    assert gateway.run().replies["whole"].header("x-request-id") == b"callers-own-1"


def test_documented_limits_of_the_head_are_those_of_the_code() -> None:
    text = " ".join(pages.text(PAGE).split())

    assert f"at most {MAX_HEAD_BYTES >> 10} KiB and {MAX_HEADERS} headers" in text
    assert f"the request target {MAX_TARGET_BYTES >> 10} KiB" in text
    assert f"more than {MAX_HEAD_BYTES >> 10} KiB or {MAX_HEADERS} headers" in pages.text("docs/errors.md")
    assert f"longer than {MAX_TARGET_BYTES >> 10} KiB" in pages.text("docs/errors.md")


def test_documented_headers_that_may_come_once_only_are_those_of_the_code() -> None:
    (found,) = re.findall(r"repeated (.*?) are refused", " ".join(pages.text(PAGE).split()))

    assert sorted(pages.codes(found)) == sorted(start[2:-1].decode() for start in _SINGLE)


# --- sessions


def test_documented_sources_of_sessions_are_those_of_the_code_in_their_order() -> None:
    rows = pages.table(PAGE, "Sessions")

    assert [pages.code(row["source"]) for row in rows] == [*SOURCES, AUTO]
