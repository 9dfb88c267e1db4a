import json
from typing import Any

import pytest

from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts
from pointsman.dialects.openai_responses import OpenAIResponses
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.testing import ToolCall, responses
from tests.unit.dialects.reader import Reader

CODEC = OpenAIResponses()
READER = Reader(CODEC)
parsed, refusal, event, answer = READER.parsed, READER.refusal, READER.event, READER.answer

HI = responses.message_item("hi")
CALL = responses.call_item(ToolCall("f"))
FAILED = "The provider reports that the answer failed."


def said(*output: object, status: str | None = "completed", tokens: int | None = 1, **fields: object) -> dict[str, Any]:
    usage = {} if tokens is None else {"usage": {"input_tokens": 5, "output_tokens": tokens}}
    return {"object": "response", "status": status, "output": list(output), **usage, **fields}


# --- requests


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"stream": True}, "stream", True),
        ({"stream": False}, "stream", False),
        ({"stream": None}, "stream", False),
        ({"tools": [{"type": "function"}, {"type": "web_search"}]}, "tool_count", 2),
        ({"tools": None}, "tool_count", 0),
        ({"tools": "x"}, "tool_count", 0),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}, "structured_output", True),
        ({"text": {"format": {"type": "json_object"}}}, "structured_output", True),
        ({"text": {"format": {"type": "text"}, "verbosity": "low"}}, "structured_output", False),
        ({"text": {"verbosity": "low"}}, "structured_output", False),
        ({"text": None}, "structured_output", False),
        ({"text": "x"}, "structured_output", False),
        ({"reasoning": {"effort": "high"}}, "reasoning", True),
        ({"reasoning": {"summary": "auto"}}, "reasoning", True),
        ({"reasoning": {"effort": "none"}}, "reasoning", False),
        ({"reasoning": {"effort": "minimal", "summary": "auto"}}, "reasoning", False),
        ({"reasoning": {}}, "reasoning", False),
        ({"reasoning": None}, "reasoning", False),
        ({"reasoning": "high"}, "reasoning", False),
        ({"max_output_tokens": 7}, "max_output_tokens", 7),
        ({"max_output_tokens": None}, "max_output_tokens", None),
        ({"max_output_tokens": "7"}, "max_output_tokens", None),
        ({"max_tokens": 7}, "max_output_tokens", None),
    ],
)
def test_a_field_becomes_a_fact(fields: dict[str, object], fact: str, expected: object) -> None:
    assert getattr(parsed(**fields).facts, fact) == expected


@pytest.mark.parametrize("stream", ["true", 1, {}], ids=repr)
def test_the_flag_of_streams_must_be_one(stream: object) -> None:
    error = refusal(json.dumps({"model": "m", "stream": stream}).encode())

    assert (error.status, error.param) == (400, "stream")


@pytest.mark.case("I18")
@pytest.mark.parametrize("name", ["Stream", "\u017ftream"])
def test_another_case_of_the_flag_of_streams_is_refused(name: str) -> None:
    assert refusal(json.dumps({"model": "m", name: True}).encode()).param == name


@pytest.mark.bug("E-10")
def test_a_stream_is_not_asked_for_its_usage() -> None:
    body = b'{"model":"m","stream":true,"stream_options":{"include_obfuscation":false},"store":false}'

    assert CODEC.write_request(CODEC.read_request(body), "m") == body


# --- events: what commits


@pytest.mark.bug("E-06")
@pytest.mark.parametrize(
    "payload",
    [
        *responses.created(),
        {"type": "response.queued", "response": responses.response((), status="queued")},
        responses.item_added(responses.message_item("")),
        responses.item_added(responses.reasoning_item("")),
        responses.item_added(responses.reasoning_item("") | {"encrypted_content": "x", "content": []}),
        responses.item_added({}),
        responses.item_added({"type": 5}),
        responses.part_added(responses.text_part("")),
        {"type": "response.reasoning_summary_part.added", "part": {"type": "summary_text", "text": ""}},
        responses.text_delta(""),
        {"type": "response.output_text.delta"},
        {"type": "response.output_item.added", "item": "x"},
        {"type": "what_comes_next", "text": "x"},
        {"type": "keepalive", "sequence_number": 3},
        {},
    ],
)
def test_an_event_that_says_nothing_is_no_content(payload: dict[str, object]) -> None:
    assert event(payload) is PLAIN_EVENT


SAYING = (
    responses.text_delta("a"),
    responses.text_delta(" "),
    {"type": "response.refusal.delta", "delta": "no"},
    {"type": "response.function_call_arguments.delta", "delta": "{"},
    {"type": "response.custom_tool_call_input.delta", "delta": "x"},
    {"type": "what_comes_next.delta", "delta": {"x": 1}},
    responses.call_events(ToolCall("f"), 0)[0],
    responses.item_added({"type": "web_search_call", "id": "ws", "status": "in_progress"}),
    responses.item_added({"type": "what_comes_next"}),
    responses.item_done(HI),
    responses.part_added(responses.text_part("a")),
)
REASONING = (
    {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
    {"type": "response.reasoning_text.delta", "delta": "hm"},
    responses.item_done(responses.reasoning_item("hm")),
)


@pytest.mark.bug("E-06", "G-05")
@pytest.mark.parametrize("payload", SAYING)
def test_whatever_is_said_is_content(payload: dict[str, object]) -> None:
    assert event(payload) == EventFacts(has_content=True)


@pytest.mark.bug("E-06", "G-05")
@pytest.mark.trap("7")
@pytest.mark.parametrize("payload", REASONING)
def test_reasoning_is_content_of_its_own_kind(payload: dict[str, object]) -> None:
    assert event(payload) == EventFacts(has_content=True, is_reasoning=True)


@pytest.mark.parametrize("payload", SAYING + REASONING)
def test_content_is_not_looked_for_once_it_has_come(payload: dict[str, object]) -> None:
    assert event(payload, before_visible=False) is PLAIN_EVENT


# --- events: the end

COUNTS = {"input_tokens": 5, "output_tokens": 2}


@pytest.mark.bug("E-12")
@pytest.mark.parametrize(
    ("answer_", "finish"),
    [
        (responses.response([HI], usage=COUNTS), "completed"),
        (
            responses.response([HI], status="incomplete", incomplete="max_output_tokens", usage=COUNTS),
            "max_output_tokens",
        ),
        (responses.response([], status="incomplete", incomplete="content_filter", usage=COUNTS), "content_filter"),
        (responses.response([], status="incomplete", usage=COUNTS), "incomplete"),
    ],
)
def test_the_last_event_ends_the_stream_and_has_its_usage(answer_: dict[str, Any], finish: str) -> None:
    found = event(responses.ended(answer_))

    assert (found.finish_reason, found.usage, found.is_terminator) == (finish, Usage(5, 2), True)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "response.completed"},
        {"type": "response.completed", "response": "x"},
        {"type": "response.completed", "response": {"usage": 5, "output": []}},
        responses.ended(responses.response([])),
    ],
)
def test_an_end_that_tells_nothing_is_one_all_the_same(payload: dict[str, Any]) -> None:
    found = event(payload)

    assert found.is_terminator
    assert (found.usage, found.error) == (None, None)


@pytest.mark.bug("B-16")
def test_an_end_without_output_and_usage_gives_no_reason() -> None:
    assert event(responses.ended(responses.response([]))).finish_reason is None


FAILURES: dict[str, tuple[dict[str, Any], ProviderError]] = {
    "usual": (responses.failed("server_error", "down"), ProviderError("down", None, "server_error")),
    "silent": (responses.ended(responses.response([], status="failed")), ProviderError(FAILED)),
    "without a response": ({"type": "response.failed"}, ProviderError(FAILED)),
    "under another status": (
        {"type": "response.failed", "response": responses.response([], status="completed")},
        ProviderError(FAILED),
    ),
    "incomplete by an error": (
        responses.ended(responses.response([], status="incomplete", error={"code": "server_error", "message": "x"})),
        ProviderError("x", None, "server_error"),
    ),
    "flat": (
        {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None, "sequence_number": 4},
        ProviderError("slow", None, "rate_limit_exceeded"),
    ),
    "flat and bare": ({"type": "error"}, ProviderError("The provider gave no message.")),
}


@pytest.mark.bug("D-07", "E-05")
@pytest.mark.parametrize("before_visible", [True, False], ids=["before content", "after content"])
@pytest.mark.parametrize(("payload", "error"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_an_error_whatever_event_tells_it(
    payload: dict[str, Any], error: ProviderError, before_visible: bool
) -> None:
    assert event(payload, before_visible=before_visible) == EventFacts(error=error)


@pytest.mark.bug("E-04")
def test_a_failure_keeps_the_usage_that_came_with_it() -> None:
    payload = responses.ended(responses.response([], status="failed", usage=COUNTS))

    assert event(payload) == EventFacts(usage=Usage(5, 2), error=ProviderError(FAILED))


# --- whole answers


@pytest.mark.parametrize("tokens", [1, None])
def test_a_proper_answer_has_usage_or_nothing_to_tell(tokens: int | None) -> None:
    expected = AnswerFacts() if tokens is None else AnswerFacts(Usage(5, tokens))

    assert answer(said(HI, tokens=tokens)) == expected


@pytest.mark.bug("B-11")
@pytest.mark.parametrize("body", [b'{"output":{}}', b'{"output":"x"}', b'{"status":5}', b'{"output":[]}trailing'])
def test_a_success_of_another_shape_is_malformed(body: bytes) -> None:
    assert CODEC.read_answer(body) == AnswerFacts(fault="malformed")


@pytest.mark.bug("B-15", "D-07")
@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (said(status="failed", tokens=None), ProviderError(FAILED)),
        (
            said(status="failed", tokens=None, error={"code": "server_error", "message": "x"}),
            ProviderError("x", None, "server_error"),
        ),
    ],
)
def test_an_answer_that_failed_is_no_success(payload: dict[str, Any], error: ProviderError) -> None:
    assert answer(payload) == AnswerFacts(error=error)


@pytest.mark.bug("B-16")
@pytest.mark.parametrize(
    "payload",
    [
        {"output": None, "status": "completed"},
        {"choices": [{"message": {"content": "of another dialect"}}]},
        said(status=None, tokens=None),
        said(tokens=0),
        said(responses.message_item(""), tokens=0),
        said(responses.reasoning_item(""), tokens=0),
        said({"type": "message", "content": [responses.text_part("")]}, tokens=0),
    ],
)
def test_an_answer_that_the_provider_calls_empty_is_empty(payload: dict[str, Any]) -> None:
    assert answer(payload).fault == "empty"


@pytest.mark.bug("B-16")
@pytest.mark.parametrize(
    "payload",
    [
        said(tokens=1),
        said(tokens=None),
        said(HI, tokens=0),
        said(CALL, tokens=0),
        said(responses.reasoning_item("hm"), tokens=0),
        said({"type": "what_comes_next"}, tokens=0),
        said(status="incomplete", tokens=0),
        said(status="queued", tokens=None),
        {"status": "queued", "id": "resp_1"},
        {"status": "in_progress", "id": "resp_1", "output": []},
    ],
)
def test_a_model_may_rightly_say_little_or_later(payload: dict[str, Any]) -> None:
    assert answer(payload).fault is None


# --- usage


@pytest.mark.bug("H-02", "H-04", "G-17")
@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, Usage()),
        ({"input_tokens": 3}, Usage(3)),
        (
            {
                "input_tokens": 30,
                "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 7},
                "total_tokens": 39,
            },
            Usage(30, 9, 20, 7, 4),
        ),
        ({"input_tokens": 3, "input_tokens_details": None, "output_tokens_details": None}, Usage(3)),
        ({"input_tokens": 3, "input_tokens_details": {"cached_tokens": None}}, Usage(3)),
    ],
)
def test_tokens_are_counted_as_the_provider_says(counts: dict[str, object], usage: Usage) -> None:
    assert answer(said(HI, tokens=None, usage=counts)) == AnswerFacts(usage)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, 2**53, [], {}])
def test_a_count_that_is_none_costs_the_usage_but_not_the_answer(count: object) -> None:
    assert answer(said(HI, tokens=None, usage={"input_tokens": count, "output_tokens": 4})) == AnswerFacts()


# --- the honest end of a broken stream

ERROR = GatewayError(ErrorKind.UPSTREAM_ERROR, "broken")


def ended_after(*chunks: bytes) -> dict[str, Any]:
    decoder = CODEC.decoder()
    for chunk in chunks:
        decoder.feed(chunk)
    name, data = CODEC.write_stream_error(ERROR, decoder).removesuffix(b"\n\n").split(b"\n")
    assert name == b"event: response.failed"
    found: dict[str, Any] = json.loads(data.removeprefix(b"data: "))
    return found


@pytest.mark.bug("E-04")
def test_a_broken_stream_ends_with_the_response_as_it_began_and_that_it_failed() -> None:
    begun, *more = responses.numbered([*responses.created(), responses.text_delta("a")])

    end = ended_after(responses.sse(begun), b"".join(map(responses.sse, more)))

    assert end == {
        "type": "response.failed",
        "sequence_number": 3,
        "response": begun["response"] | {"status": "failed", "error": {"code": "upstream_error", "message": "broken"}},
    }


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        (b"", 0),
        (b": hello\n\n", 1),
        (b'data: {"type":"x"}\n\n', 1),
        (b'data: {"response":5}\n\n', 1),
        (b"data: {\n\ndata: {}\n\n", 2),
    ],
)
def test_a_stream_that_did_not_begin_properly_ends_so_all_the_same(raw: bytes, number: int) -> None:
    error = {"code": "upstream_error", "message": "broken"}

    end = ended_after(raw)

    assert end["sequence_number"] == number
    assert end["response"] == {"status": "failed", "error": error}


def test_comments_before_the_first_event_do_not_hide_it() -> None:
    begun = {"type": "response.created", "response": {"id": "resp_1"}}

    end = ended_after(b": hello\n\n", responses.sse(begun))

    assert end["response"]["id"] == "resp_1"


@pytest.mark.bug("E-04")
def test_no_end_of_ours_is_ever_a_completed_one() -> None:
    assert CODEC.write_terminator() == b""
