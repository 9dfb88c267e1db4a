"""The first of two targets fails before any content: every caller gets the second one's answer, and only that."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import (
    Answer,
    Chat,
    CloseEarly,
    Events,
    FakeProvider,
    Hang,
    Json,
    Raw,
    Status,
    Truncated,
    chat,
    messages,
    responses,
    stream_of,
)
from tests.integration.callers import CHAT, MESSAGES, RESPONSES, ask_all, tally, to_pairs
from tests.integration.harness import pairs

# the machinery is the same: the other dialects show their own signs only
CALLERS = {CHAT: 1_000, RESPONSES: 200, MESSAGES: 400}
FINE = Chat("from b")
LIMIT_S = 0.5  # far more than the good target needs, also on a busy machine
IMPATIENT = {"first_content": f"{LIMIT_S}s", "first_content_reasoning": f"{LIMIT_S}s", "idle": f"{LIMIT_S}s"}
AT_THE_LIMIT: dict[str, Any] = {"concurrency": 100, "timeouts": IMPATIENT}

Table = dict[str, Any]
WHOLE = {
    CHAT: msgspec.json.encode(chat.completion("from a", to=chat.NOTHING_SPECIAL)),
    RESPONSES: msgspec.json.encode(responses.response([responses.message_item("from a")])),
    MESSAGES: msgspec.json.encode(messages.message([messages.text_block("from a")], to=chat.NOTHING_SPECIAL)),
}
OPENING: dict[Dialect, tuple[chat.Payload, ...]] = {
    CHAT: (chat.chunk(chat.role_delta()),),
    RESPONSES: (*responses.created(), *responses.text_begin()),
    MESSAGES: (messages.message_start(), messages.ping(), messages.block_start(messages.text_block(""))),
}
ERROR = {CHAT: chat.error, RESPONSES: chat.error, MESSAGES: messages.error}
TOO_FAST = responses.failed("rate_limit_exceeded", "from a")
NUMERIC_429 = {"choices": [], "error": {"code": 429, "message": "from a"}}


def either(dialect: Dialect) -> Table:
    """Answers that are no success, streamed or not."""
    common = {
        "500": Status(500, "from a"),
        "closed": CloseEarly(),
        "reset": CloseEarly(reset=True),
        "html_page": Status(200, body=b"<html>from a</html>", content_type="text/html"),
        "empty_200": Status(200, body=b""),
        "204": Status(204),
        "other_protocol": Raw((b"SSH-2.0-OpenSSH_9.2 from a\r\n",)),
        "head_cut": Raw((b"HTTP/1.1 200 OK\r\ncontent-le",)),
        "head_reset": Raw((b"HTTP/1.1 200 OK\r\ncontent-le",), then="reset"),
        "two_lengths": Raw((b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nfrom a",)),
        "redirect": Status(307, headers=(("location", "http://127.0.0.1:9/v1/chat/completions"),)),
        "error_in_200": Json(200, ERROR[dialect](502, "from a")),
    }
    own: dict[Dialect, Table] = {
        CHAT: {
            "no_choices": Json(200, {"id": "from a", "choices": []}),
            "null_choices": Json(200, {"id": "from a", "choices": None}),
        },
        RESPONSES: {
            "no_output": Json(200, {"id": "from a", "status": "completed"}),
            "failed": Json(200, responses.failed("server_error", "from a")["response"]),
            "of_another_dialect": Json(200, chat.completion("from a", to=chat.NOTHING_SPECIAL)),
        },
        MESSAGES: {
            "no_content": Json(200, {"id": "from a", "content": None}),
            "no_content_and_no_end": Json(200, {"id": "from a", "content": [], "stop_reason": None}),
            "of_another_dialect": Json(200, chat.completion("from a", to=chat.NOTHING_SPECIAL)),
        },
    }
    return common | own[dialect]


def rate_limited(dialect: Dialect) -> Table:
    """Answers that pause at once, and which two requests meet them."""
    common = {"429": (Status(429, "from a"), (False, True)), "529": (Status(529, "from a"), (True, False))}
    own: dict[Dialect, Table] = {
        CHAT: {
            "numeric_429_in_200": (Json(200, {"error": {"code": 429, "message": "from a"}}), (False, True)),
            "role_then_numeric_429": (Events((*OPENING[CHAT], NUMERIC_429)), (True, True)),
        },
        RESPONSES: {
            "numeric_429_in_200": (Json(200, {"error": {"code": 429, "message": "from a"}}), (False, True)),
            "created_then_rate_limited": (Events((*responses.created(), TOO_FAST), then="end"), (True, True)),
        },
        MESSAGES: {
            "overloaded_in_200": (Json(200, messages.error(529, "from a")), (False, True)),
            "start_then_overloaded": (Events((*OPENING[MESSAGES], messages.error(529, "from a"))), (True, True)),
        },
    }
    return common | own[dialect]


def unary(dialect: Dialect) -> Table:
    """Answers that are broken where no stream was asked for."""
    whole = WHOLE[dialect]
    short = Raw((b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(whole) + 1), whole))
    common = {
        "body_cut": Truncated("from a " * 50),
        "body_reset": Truncated("from a " * 50, then="reset"),
        "whole_json_but_a_byte_short": short,
        "stream_for_json": stream_of("from a", dialect=dialect),
        "half_json_of_full_length": Status(200, body=whole[:-5]),
        "nothing_said_and_no_token": Chat("", usage=Usage(output_tokens=0), finish_reason="stop"),
    }
    failed = {"choices": [{"finish_reason": "error", "error": {"code": 502}}]}
    return common | ({"error_as_finish_reason": Json(200, failed)} if dialect is CHAT else {})


def streamed(dialect: Dialect) -> Table:
    """Streams that fail before any content."""
    opening = OPENING[dialect]
    nameless = b'event: error\ndata: {"error": {"message": "from a"}}\n\n'
    common = {
        "opening_then_cut": stream_of(then="cut", dialect=dialect),
        "opening_then_reset": stream_of(then="reset", dialect=dialect),
        "opening_then_end": Events(opening, then="end"),
        "opening_then_error": Events((*opening, ERROR[dialect](500, "from a"))),
        "opening_then_named_error": Events((*opening, nameless)),
        "json_for_stream": Json(200, msgspec.json.decode(WHOLE[dialect])),
        "only_the_terminator": Events(()),
        "malformed_first_event": Events((b'data: {"choices":[{"delta":{"con\n\n',)),
        "nothing_said_and_no_token": Chat("", usage=Usage(output_tokens=0), finish_reason="stop"),
    }
    own: dict[Dialect, Table] = {
        CHAT: {"role_then_error_as_finish_reason": Events((*opening, chat.chunk({}, finish_reason="error")))},
        RESPONSES: {
            "opening_then_failed": Events((*opening, responses.failed("server_error", "from a")), then="end"),
            "opening_then_flat_error": Events((*opening, {"type": "error", "code": None, "message": "from a"})),
        },
    }
    return common | own.get(dialect, {})


def timed_either(_: Dialect) -> Table:
    """Answers that never come."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    return {"hangs": Hang(), "head_then_stalls": Raw((head,), then="stall")}


def timed_unary(_: Dialect) -> Table:
    """Answers that never end."""
    return {"half_a_body_then_stalls": Truncated("from a " * 50, then="stall")}


def timed_streamed(dialect: Dialect) -> Table:
    """Streams that live and say nothing."""
    opening = OPENING[dialect]
    common = {
        "opening_then_stalls": stream_of(then="stall", dialect=dialect),
        "comments_then_stalls": Events((*opening, b": ping\n\n", b": ping\n\n"), then="stall"),
        "comments_without_end": Events((b": ping\n\n",) * 100, gap_s=0.05, then="stall"),
    }
    pings = Events((*opening, *[messages.ping()] * 100), gap_s=0.05, then="stall")
    return common | ({"pings_without_end": pings} if dialect is MESSAGES else {})


def each(table: Callable[[Dialect], Table]) -> pytest.MarkDecorator:
    """Every case of a table, in every dialect."""
    cases = [(dialect, name, answer) for dialect in CALLERS for name, answer in table(dialect).items()]
    return pytest.mark.parametrize(
        ("dialect", "answer"),
        [pytest.param(dialect, answer, id=f"{dialect}-{name}") for dialect, name, answer in cases],
    )


@pytest.fixture
def all_from_b(run: Any, gateway: Any) -> Callable[..., int]:
    """Sends two requests to each of many groups: too few for a pause after faults, so that all meet the failing target.

    Returns how many did.
    """

    def check(dialect: Dialect, answer: Answer, *streams: bool, concurrency: int | None = None, **sections: Any) -> int:
        groups = CALLERS[dialect] // 2
        at_once = concurrency or groups // 10  # so that the first request to a group ends before its second begins

        async def scenario() -> int:
            async with (
                FakeProvider(name="a", default=answer) as a,
                FakeProvider(name="b", default=FINE) as b,
                gateway(a, b, groups=pairs("a", "b", groups), **sections) as gw,
            ):
                requests = to_pairs(groups, *streams, dialect=dialect)
                replies = await ask_all(gw.base_url, requests, at_once)

                assert tally(replies) == {(200, "from b"): len(requests)}
                assert not any(b"from a" in reply.body for reply in replies)
                assert len(b.log) == len(requests)
                records = await gw.records()
                assert len(records) == len(requests)
                assert sum(len(record["attempts"]) for record in records) == len(a.log) + len(b.log)
                return len(a.log)

        met: int = run(scenario())
        return met

    return check


@pytest.mark.bug("A-01", "B-11", "B-15", "B-16")
@pytest.mark.case("T05", "T20", "T29")
@each(either)
def test_a_failure_before_content_is_never_seen(all_from_b: Any, dialect: Dialect, answer: Answer) -> None:
    met = all_from_b(dialect, answer, False, True)

    assert met == CALLERS[dialect]


@pytest.mark.bug("A-09", "E-05")
@pytest.mark.case("T29")
@each(rate_limited)
def test_a_rate_limit_is_never_seen_and_met_once(
    all_from_b: Any, dialect: Dialect, answer: tuple[Answer, tuple[bool, bool]]
) -> None:
    said, streams = answer

    met = all_from_b(dialect, said, *streams)

    assert met == CALLERS[dialect] // 2  # one request of each group: the next one finds the target paused


@pytest.mark.bug("B-11", "B-15", "B-16")
@pytest.mark.case("T06", "T20")
@each(unary)
def test_a_broken_unary_answer_is_never_seen(all_from_b: Any, dialect: Dialect, answer: Answer) -> None:
    met = all_from_b(dialect, answer, False, False)

    assert met == CALLERS[dialect]


@pytest.mark.bug("E-05", "E-06", "E-16")
@pytest.mark.case("T29")
@each(streamed)
def test_a_stream_that_fails_before_content_is_never_seen(all_from_b: Any, dialect: Dialect, answer: Answer) -> None:
    met = all_from_b(dialect, answer, True, True)

    assert met == CALLERS[dialect]


# from here on each request takes as long as the limit, so many wait at once


@pytest.mark.case("T08")
@each(timed_either)
def test_a_target_that_never_answers_is_left_at_the_limit(all_from_b: Any, dialect: Dialect, answer: Answer) -> None:
    met = all_from_b(dialect, answer, False, True, **AT_THE_LIMIT)

    assert met == CALLERS[dialect]


@each(timed_unary)
def test_a_unary_answer_that_stalls_is_left_at_the_limit(all_from_b: Any, dialect: Dialect, answer: Answer) -> None:
    met = all_from_b(dialect, answer, False, False, **AT_THE_LIMIT)

    assert met == CALLERS[dialect]


@pytest.mark.bug("E-06")
@pytest.mark.case("T29")
@each(timed_streamed)
def test_signs_of_life_without_content_do_not_extend_the_limit(
    all_from_b: Any, dialect: Dialect, answer: Answer
) -> None:
    met = all_from_b(dialect, answer, True, True, **AT_THE_LIMIT)

    assert met == CALLERS[dialect]
