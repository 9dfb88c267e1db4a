import json
from typing import Any

import pytest

from pointsman.dialects.anthropic_messages import AnthropicMessages
from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.testing import ToolCall, messages
from tests.unit.dialects.reader import Reader

CODEC = AnthropicMessages()
UNKNOWN_SHAPE = "The provider reported an error of an unknown shape."


READER = Reader(CODEC)
parsed, refusal, event, answer = READER.parsed, READER.refusal, READER.event, READER.answer


def said(*content: object, stop: str | None = "end_turn", tokens: int | None = 1) -> dict[str, Any]:
    usage = {} if tokens is None else {"usage": {"input_tokens": 5, "output_tokens": tokens}}
    return {"type": "message", "content": list(content), "stop_reason": stop, **usage}


HI = {"type": "text", "text": "hi"}


# --- requests: facts


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"stream": True}, "stream", True),
        ({"stream": False}, "stream", False),
        ({"stream": None}, "stream", False),
        ({"tools": [{}, {}]}, "tool_count", 2),
        ({"tools": None}, "tool_count", 0),
        ({"tools": "x"}, "tool_count", 0),
        ({"output_format": {"type": "json_schema"}}, "structured_output", True),
        ({"output_format": None}, "structured_output", False),
        ({"output_config": {"format": {"type": "json_schema"}}}, "structured_output", True),
        ({"output_config": {"effort": "high"}}, "structured_output", False),
        ({"output_config": {"format": None}}, "structured_output", False),
        ({"output_config": "x"}, "structured_output", False),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "reasoning", True),
        ({"thinking": {"type": "adaptive"}}, "reasoning", True),
        ({"thinking": {"type": "disabled"}}, "reasoning", False),
        ({"thinking": None}, "reasoning", False),
        ({"thinking": {}}, "reasoning", False),
        ({"thinking": "enabled"}, "reasoning", False),
        ({"max_tokens": 7}, "max_output_tokens", 7),
        ({"max_tokens": None}, "max_output_tokens", None),
        ({"max_tokens": "7"}, "max_output_tokens", None),
    ],
)
def test_a_field_becomes_a_fact(fields: dict[str, object], fact: str, expected: object) -> None:
    assert getattr(parsed(**fields).facts, fact) == expected


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"stream": "true"}, "stream"),
        ({"stream": 1}, "stream"),
    ],
)
def test_a_field_that_steers_the_gateway_must_have_its_type(fields: dict[str, object], param: str) -> None:
    error = refusal(json.dumps({"model": "m"} | fields).encode())

    assert (error.status, error.param) == (400, param)
    assert f"'{param}'" in error.message


@pytest.mark.case("I18")
@pytest.mark.parametrize("name", ["Stream", "\u017ftream"])
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
def test_another_case_of_the_stream_flag_is_refused(name: str, ascii_only: bool) -> None:
    error = refusal(json.dumps({"model": "m", name: None}, ensure_ascii=ascii_only).encode())

    assert (error.status, error.param) == (400, name)


@pytest.mark.bug("E-10")
@pytest.mark.parametrize("name", ["Messages", "stream_options", "STREAM_OPTIONS", "cache_control", "what_comes_next"])
def test_any_other_field_is_the_providers_to_judge(name: str) -> None:
    assert parsed(**{name: 1}).facts.model == "m"


# --- requests: edits

ODD = (
    '\n{ "thinking":{"type":"enabled"},"system": [{"type":"text","text":"é","cache_control":{"type":"ephemeral"}}],'
    '"mode\\u006c" : "m\\u0061" ,"stream" : true, "n":1.0e0,'
    '"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"a/b=="}]}]}\r\n'
).encode()


@pytest.mark.bug("D-06", "G-09", "G-12")
def test_only_the_name_of_the_model_changes() -> None:
    written = CODEC.write_request(CODEC.read_request(ODD), "other")

    assert written == ODD.replace(b'"m\\u0061"', b'"other"')


@pytest.mark.bug("E-10")
def test_a_stream_is_not_asked_for_its_usage() -> None:
    body = b'{"model":"m","stream":true}'

    assert CODEC.write_request(CODEC.read_request(body), "m") == body


# --- events: what commits

START = messages.message_start(usage={"input_tokens": 3, "output_tokens": 1})


@pytest.mark.bug("E-06")
@pytest.mark.parametrize(
    "payload",
    [
        messages.message_start(),
        messages.ping(),
        messages.block_start(messages.text_block("")),
        messages.block_start(messages.thinking_block("", signature="")),
        messages.block_start({}),
        messages.block_start({"type": 5}),
        messages.block_delta({"type": "text_delta", "text": ""}),
        messages.block_delta({"type": "thinking_delta", "thinking": ""}),
        messages.block_stop(),
        {"type": "message_delta", "delta": {"stop_reason": None}},
        {"type": "message_delta", "delta": "x", "usage": "y"},
        {"type": "message_start", "message": "x"},
        {"type": "content_block_delta"},
        {"type": "content_block_delta", "delta": "x"},
        {"type": "what_comes_next", "delta": {"text": "x"}},
        {},
    ],
)
def test_an_event_that_says_nothing_is_no_content(payload: dict[str, object]) -> None:
    assert event(payload) is PLAIN_EVENT


@pytest.mark.bug("E-06", "G-05")
@pytest.mark.parametrize(
    "payload",
    [
        messages.text_delta("a"),
        messages.text_delta(" "),
        messages.block_delta({"type": "input_json_delta", "partial_json": "{"}),
        messages.block_delta({"type": "citations_delta", "citation": {"type": "char_location"}}),
        messages.block_delta({"type": "what_comes_next", "x": 1}),
        messages.tool_use_events(ToolCall("f"), 0)[0],
        messages.block_start({"type": "server_tool_use", "id": "s"}),
        messages.block_start({"type": "what_comes_next"}),
        messages.block_start(messages.text_block("a")),
    ],
)
def test_whatever_is_said_is_content(payload: dict[str, object]) -> None:
    assert event(payload) == EventFacts(has_content=True)


@pytest.mark.bug("E-06", "G-05")
@pytest.mark.trap("7")
@pytest.mark.parametrize(
    "payload",
    [
        messages.block_delta({"type": "thinking_delta", "thinking": "hm"}),
        messages.block_delta({"type": "signature_delta", "signature": "x"}),
        messages.block_start({"type": "redacted_thinking", "data": "x"}),
    ],
)
def test_reasoning_is_content_of_its_own_kind(payload: dict[str, object]) -> None:
    assert event(payload) == EventFacts(has_content=True, is_reasoning=True)


@pytest.mark.parametrize("payload", [messages.text_delta("a"), messages.tool_use_events(ToolCall("f"), 0)[0]])
def test_content_is_not_looked_for_once_it_has_come(payload: dict[str, object]) -> None:
    assert event(payload, before_visible=False) is PLAIN_EVENT


def test_message_stop_is_the_terminator() -> None:
    assert event({"type": "message_stop"}) == EventFacts(is_terminator=True)


@pytest.mark.bug("E-12")
@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "tool_use", "pause_turn", "refusal", "what_comes_next"])
def test_the_stop_reason_is_the_providers_own(stop: str) -> None:
    assert event(messages.message_delta(stop)) == EventFacts(finish_reason=stop)


# --- events: errors


@pytest.mark.bug("E-05")
@pytest.mark.parametrize("payload", [{"type": "error"}, {"type": "error", "error": None}])
def test_an_event_that_only_calls_itself_an_error_is_one(payload: dict[str, Any]) -> None:
    assert event(payload) == EventFacts(error=ProviderError(UNKNOWN_SHAPE))


@pytest.mark.bug("E-16")
@pytest.mark.parametrize("data", [b"[DONE]", b'{"type":5,"x":'])
def test_broken_json_is_malformed(data: bytes) -> None:
    assert CODEC.read_event(data, before_visible=True) == EventFacts(is_malformed=True)


# --- usage


@pytest.mark.bug("H-01", "H-02", "G-17")
@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, Usage()),
        ({"input_tokens": 0, "output_tokens": 0}, Usage(0, 0)),
        ({"input_tokens": 3, "output_tokens": 4}, Usage(3, 4)),
        (
            {
                "input_tokens": 3,
                "cache_creation_input_tokens": 12304,
                "cache_read_input_tokens": 0,
                "cache_creation": {"ephemeral_5m_input_tokens": 12300, "ephemeral_1h_input_tokens": 4},
                "output_tokens": 550,
                "output_tokens_details": {"thinking_tokens": 500},
                "service_tier": "standard",
            },
            Usage(12307, 550, 0, 500, 12304, 4),
        ),
        ({"input_tokens": 1, "cache_read_input_tokens": 32, "output_tokens": 5}, Usage(33, 5, 32)),
        ({"cache_read_input_tokens": 32, "output_tokens": 5}, Usage(None, 5, 32)),
        (
            {"input_tokens": 3, "cache_creation_input_tokens": None, "cache_creation": None, "output_tokens": None},
            Usage(3),
        ),
    ],
)
def test_all_input_is_counted_and_its_cached_parts_are_told_apart(counts: dict[str, object], usage: Usage) -> None:
    assert answer(said(HI, tokens=None) | {"usage": counts}) == AnswerFacts(usage)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, 2**53, [], {}])
def test_a_count_that_is_none_costs_the_usage_but_not_the_answer(count: object) -> None:
    assert answer(said(HI, tokens=None) | {"usage": {"input_tokens": count, "output_tokens": 4}}) == AnswerFacts()


def after(*reports: dict[str, object]) -> Usage:
    """What holds after these reports of one stream."""
    first, *rest = [event({"type": "message_delta", "usage": report}).usage for report in reports]
    assert first is not None
    for later in rest:
        assert later is not None
        first = CODEC.usage_after(first, later)
    return first


@pytest.mark.bug("H-03", "H-05")
@pytest.mark.parametrize(
    ("reports", "usage"),
    [
        ([{"input_tokens": 10, "output_tokens": 1}, {"output_tokens": 50}], Usage(10, 50)),
        (
            [{"input_tokens": 0}, {"input_tokens": 900, "cache_read_input_tokens": 800, "output_tokens": 50}],
            Usage(1700, 50, 800),
        ),
        ([{"input_tokens": 10}, *[{"input_tokens": 10, "output_tokens": 50}] * 3], Usage(10, 50)),
        (
            [{"input_tokens": 3, "cache_read_input_tokens": 800}, {"input_tokens": 5, "output_tokens": 2}],
            Usage(805, 2, 800),
        ),
        (
            [{"input_tokens": 3, "cache_creation_input_tokens": 7}, {"cache_read_input_tokens": 4}],
            Usage(14, None, 4, None, 7),
        ),
        (
            [
                {"output_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 2}},
                {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 6}},
            ],
            Usage(None, 9, None, 6, None, 2),
        ),
    ],
)
def test_a_later_report_replaces_what_it_says_and_leaves_the_rest(
    reports: list[dict[str, object]], usage: Usage
) -> None:
    assert after(*reports) == usage


def test_a_stream_reports_its_usage_at_both_ends() -> None:
    last = messages.message_delta("end_turn", {"output_tokens": 4})

    assert event(START) == EventFacts(usage=Usage(3, 1))
    assert event(last) == EventFacts(usage=Usage(None, 4), finish_reason="end_turn")


# --- unary answers


def test_a_proper_answer_may_state_no_usage() -> None:
    assert answer(said(HI, tokens=None)) == AnswerFacts()


@pytest.mark.bug("B-11")
@pytest.mark.parametrize(
    "body", [b'{"content":', b'{"content":{}}', b'{"content":"x"}', b'{"stop_reason":5}', b'{"content":[]}trailing']
)
def test_a_success_that_cannot_be_read_is_malformed(body: bytes) -> None:
    assert CODEC.read_answer(body) == AnswerFacts(fault="malformed")


@pytest.mark.bug("B-16")
@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"content": None},
        {"choices": [{"message": {"content": "of another dialect"}}]},
        said(stop=None, tokens=None),
        said(tokens=0),
        said({"type": "text", "text": ""}, tokens=0),
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
        said(stop="max_tokens", tokens=0),
        said(stop="refusal", tokens=0),
        said({"type": "tool_use", "id": "t", "name": "f", "input": {}}, stop="tool_use", tokens=0),
        said({"type": "what_comes_next"}, tokens=0),
    ],
)
def test_a_model_may_rightly_say_little(payload: dict[str, Any]) -> None:
    assert answer(payload).fault is None


# --- the end


def test_the_error_of_a_provider_keeps_its_type() -> None:
    error = CODEC.read_error(404, json.dumps(messages.error(404, "model: nope")).encode())

    assert error == ProviderError("model: nope", "not_found_error")


def test_the_terminator_is_its_own_named_event() -> None:
    (stop,) = CODEC.decoder().feed(CODEC.write_terminator())

    assert stop.raw.startswith(b"event: message_stop\n")
    assert CODEC.read_event(stop.data or b"", before_visible=False).is_terminator
