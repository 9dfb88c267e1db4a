"""The first of two targets fails before any content: every caller gets the second one's answer, and only that."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, CloseEarly, Events, FakeProvider, Hang, Json, Raw, Status, Truncated, chat
from pointsman.testing.answers import stream_of
from tests.integration.callers import ask_all, tally, to_pairs
from tests.integration.harness import pairs

CALLERS = 1_000
GROUPS = CALLERS // 2
FINE = Chat("from b")
ROLE = chat.chunk(chat.role_delta())
NUMERIC_429 = {"choices": [], "error": {"code": 429, "message": "from a"}}
WHOLE = msgspec.json.encode(chat.completion("from a", to=chat.NOTHING_SPECIAL))
LIMIT_S = 0.5  # far more than the good target needs, also on a busy machine
IMPATIENT = {"first_content": f"{LIMIT_S}s", "first_content_reasoning": f"{LIMIT_S}s", "idle": f"{LIMIT_S}s"}
AT_THE_LIMIT: dict[str, Any] = {"concurrency": 100, "timeouts": IMPATIENT}

EITHER: dict[str, Answer] = {
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
    "error_in_200": Json(200, chat.error(502, "from a")),
    "no_choices": Json(200, {"id": "from a", "choices": []}),
    "null_choices": Json(200, {"id": "from a", "choices": None}),
}
RATE_LIMITED: dict[str, tuple[Answer, tuple[bool, bool]]] = {
    "429": (Status(429, "from a"), (False, True)),
    "529": (Status(529, "from a"), (True, False)),
    "numeric_429_in_200": (Json(200, {"error": {"code": 429, "message": "from a"}}), (False, True)),
    "role_then_numeric_429": (Events((ROLE, NUMERIC_429)), (True, True)),
}
UNARY: dict[str, Answer] = {
    "body_cut": Truncated("from a " * 50),
    "body_reset": Truncated("from a " * 50, then="reset"),
    "whole_json_but_a_byte_short": Raw((b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(WHOLE) + 1), WHOLE)),
    "stream_for_json": stream_of("from a"),
    "half_json_of_full_length": Status(200, body=b'{"choices": [{"message": {"content": "from a'),
    "error_as_finish_reason": Json(200, {"choices": [{"finish_reason": "error", "error": {"code": 502}}]}),
    "nothing_said_and_no_token": Chat("", usage=Usage(output_tokens=0), finish_reason="stop"),
}
STREAMED: dict[str, Answer] = {
    "role_then_cut": stream_of(then="cut"),
    "role_then_reset": stream_of(then="reset"),
    "role_then_end": Events((ROLE,), then="end"),
    "role_then_error": Events((ROLE, chat.error(500, "from a"))),
    "role_then_named_error": Events((ROLE, b'event: error\ndata: {"error": {"message": "from a"}}\n\n')),
    "role_then_error_as_finish_reason": Events((ROLE, chat.chunk({}, finish_reason="error"))),
    "malformed_first_event": Events((b'data: {"choices":[{"delta":{"con\n\n',)),
    "json_for_stream": Json(200, chat.completion("from a", to=chat.NOTHING_SPECIAL)),
    "only_done": Events(()),
}
TIMED_EITHER: dict[str, Answer] = {
    "hangs": Hang(),
    "head_then_stalls": Raw((b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n",), then="stall"),
}
TIMED_UNARY: dict[str, Answer] = {"half_a_body_then_stalls": Truncated("from a " * 50, then="stall")}
TIMED_STREAMED: dict[str, Answer] = {
    "role_then_stalls": stream_of(then="stall"),
    "comments_then_stalls": Events((ROLE, b": ping\n\n", b": ping\n\n"), then="stall"),
    "comments_without_end": Events((b": ping\n\n",) * 100, gap_s=0.05, then="stall"),
}


@pytest.fixture
def all_from_b(run: Any, gateway: Any) -> Callable[..., int]:
    """Sends two requests to each of many groups: too few for a pause after faults, so that all meet the failing target.

    Returns how many did.
    """

    def check(answer: Answer, *streams: bool, concurrency: int = 50, **sections: Any) -> int:
        async def scenario() -> int:
            async with (
                FakeProvider(name="a", default=answer) as a,
                FakeProvider(name="b", default=FINE) as b,
                gateway(a, b, groups=pairs("a", "b", GROUPS), **sections) as gw,
            ):
                requests = to_pairs(GROUPS, *streams)
                replies = await ask_all(gw.base_url, requests, concurrency)

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
@pytest.mark.parametrize("answer", EITHER.values(), ids=EITHER)
def test_a_failure_before_content_is_never_seen(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, False, True)

    assert met == CALLERS


@pytest.mark.bug("A-09", "E-05")
@pytest.mark.case("T29")
@pytest.mark.parametrize(("answer", "streams"), RATE_LIMITED.values(), ids=RATE_LIMITED)
def test_a_rate_limit_is_never_seen_and_met_once(all_from_b: Any, answer: Answer, streams: tuple[bool, bool]) -> None:
    met = all_from_b(answer, *streams)

    assert met == GROUPS  # one request of each group: the next one finds the target paused


@pytest.mark.bug("B-11", "B-15", "B-16")
@pytest.mark.case("T06", "T20")
@pytest.mark.parametrize("answer", UNARY.values(), ids=UNARY)
def test_a_broken_unary_answer_is_never_seen(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, False, False)

    assert met == CALLERS


@pytest.mark.bug("E-05", "E-06", "E-16")
@pytest.mark.case("T29")
@pytest.mark.parametrize("answer", STREAMED.values(), ids=STREAMED)
def test_a_stream_that_fails_before_content_is_never_seen(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, True, True)

    assert met == CALLERS


# from here on each request takes as long as the limit, so many wait at once


@pytest.mark.case("T08")
@pytest.mark.parametrize("answer", TIMED_EITHER.values(), ids=TIMED_EITHER)
def test_a_target_that_never_answers_is_left_at_the_limit(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, False, True, **AT_THE_LIMIT)

    assert met == CALLERS


@pytest.mark.parametrize("answer", TIMED_UNARY.values(), ids=TIMED_UNARY)
def test_a_unary_answer_that_stalls_is_left_at_the_limit(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, False, False, **AT_THE_LIMIT)

    assert met == CALLERS


@pytest.mark.bug("E-06")
@pytest.mark.case("T29")
@pytest.mark.parametrize("answer", TIMED_STREAMED.values(), ids=TIMED_STREAMED)
def test_signs_of_life_without_content_do_not_extend_the_limit(all_from_b: Any, answer: Answer) -> None:
    met = all_from_b(answer, True, True, **AT_THE_LIMIT)

    assert met == CALLERS
