import json
from typing import Any

import pytest

from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts
from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.outcome import ProviderError, Usage
from tests.unit.dialects.reader import Reader

CODEC = OpenAIChat()


READER = Reader(CODEC)
parsed, refusal, event, answer = READER.parsed, READER.refusal, READER.event, READER.answer


def delta(**fields: object) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def said(text: str | None, finish: str = "stop", tokens: int | None = 1, **message: object) -> dict[str, Any]:
    usage = {} if tokens is None else {"usage": {"prompt_tokens": 5, "completion_tokens": tokens}}
    message = {"role": "assistant", "content": text} | message
    return {"choices": [{"message": message, "finish_reason": finish}], **usage}


# --- requests: facts


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"stream": True}, "stream", True),
        ({"stream": False}, "stream", False),
        ({"stream": None}, "stream", False),
        ({"tools": [{}, {}]}, "tool_count", 2),
        ({"tools": []}, "tool_count", 0),
        ({"tools": None}, "tool_count", 0),
        ({"tools": "x"}, "tool_count", 0),
        ({"tools": [1, 2]}, "tool_count", 0),
        ({"tools": {"a": 1}}, "tool_count", 0),
        ({"response_format": {"type": "json_object"}}, "structured_output", True),
        ({"reasoning_effort": "high"}, "reasoning", True),
        ({"reasoning_effort": "none"}, "reasoning", False),
        ({"reasoning_effort": "minimal"}, "reasoning", False),
        ({"reasoning_effort": None}, "reasoning", False),
        ({"reasoning_effort": 5}, "reasoning", False),
        ({"max_tokens": 7}, "max_output_tokens", 7),
        ({"max_completion_tokens": 8}, "max_output_tokens", 8),
        ({"max_tokens": 7, "max_completion_tokens": 8}, "max_output_tokens", 8),
        ({"max_tokens": 7, "max_completion_tokens": None}, "max_output_tokens", 7),
        ({"max_tokens": None}, "max_output_tokens", None),
        ({"max_tokens": "7"}, "max_output_tokens", None),
        ({"max_tokens": 7.5}, "max_output_tokens", None),
        ({"stream": True, "stream_options": {"include_usage": True}}, "wants_usage", True),
        ({"stream": True, "stream_options": {"include_usage": False}}, "wants_usage", False),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "wants_usage", False),
        ({"stream": True, "stream_options": {}}, "wants_usage", False),
        ({"stream": True, "stream_options": None}, "wants_usage", False),
    ],
)
def test_a_field_becomes_a_fact(fields: dict[str, object], fact: str, expected: object) -> None:
    assert getattr(parsed(**fields).facts, fact) == expected


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"stream": "true"}, "stream"),
        ({"stream": 1}, "stream"),
        ({"stream": {}}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"stream_options": "x"}, "stream_options"),
        ({"stream_options": True}, "stream_options"),
    ],
)
def test_a_field_that_steers_the_gateway_must_have_its_type(fields: dict[str, object], param: str) -> None:
    error = refusal(json.dumps({"model": "m"} | fields).encode())

    assert (error.status, error.param) == (400, param)
    assert f"'{param}'" in error.message


@pytest.mark.case("I18")
@pytest.mark.parametrize(
    "name",
    [
        "Stream",
        "\u017ftream",
        "STREAM_OPTIONS",
        "Stream_options",
        "\u017ftream_option\u017f",
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
def test_another_case_of_a_field_of_streams_is_refused(name: str, ascii_only: bool) -> None:
    body = json.dumps({"model": "m", name: None}, ensure_ascii=ascii_only).encode()

    error = refusal(body)

    assert (error.status, error.param) == (400, name)


# --- requests: edits


@pytest.mark.bug("E-08")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model":"m","stream":true}', b'{"stream_options":{"include_usage":true},"model":"M","stream":true}'),
        (
            b' {"stream": true, "model": "m"}',
            b' {"stream_options":{"include_usage":true},"stream": true, "model": "M"}',
        ),
        (
            b'{"model":"m","stream":true,"stream_options":null}',
            b'{"model":"M","stream":true,"stream_options":{"include_usage":true}}',
        ),
        (
            b'{"stream_options": {},"model":"m","stream":true}',
            b'{"stream_options": {"include_usage":true},"model":"M","stream":true}',
        ),
        (
            b'{"model":"m","stream":true,"stream_options":{"include_usage":false}}',
            b'{"model":"M","stream":true,"stream_options":{"include_usage":true}}',
        ),
        (
            b'{"model":"m","stream_options":{"include_usage":null,"x":{"y": 1.0}},"stream":true}',
            b'{"model":"M","stream_options":{"include_usage":true,"x":{"y": 1.0}},"stream":true}',
        ),
    ],
)
def test_a_stream_is_asked_for_its_usage(body: bytes, expected: bytes) -> None:
    assert CODEC.write_request(CODEC.read_request(body), "M") == expected


@pytest.mark.bug("E-08")
@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m"}',
        b'{"model":"m","stream":false}',
        b'{"model":"m","stream":null,"stream_options":{"include_usage":false}}',
        b'{"model":"m","stream_options":null}',
        b'{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
        b'{"model":"m","stream":true,"stream_options": { "x":1, "include_usage" : true } }',
    ],
)
def test_nothing_is_asked_for_that_is_not_needed(body: bytes) -> None:
    assert CODEC.write_request(CODEC.read_request(body), "m") == body


@pytest.mark.bug("G-11")
@pytest.mark.parametrize("thoughts", [b'"hm"', b'""', b"null"])
def test_earlier_thoughts_go_back_to_whoever_had_them(thoughts: bytes) -> None:
    body = b'{"model":"m","messages":[{"role":"assistant","content":"so", "reasoning_content" : %b}]}' % thoughts

    assert CODEC.write_request(CODEC.read_request(body), "m") == body


# --- events


@pytest.mark.parametrize("data", [b"[DONE]", b" [DONE] ", b"[DONE]\n"])
def test_the_terminator_is_recognised(data: bytes) -> None:
    assert CODEC.read_event(data, before_visible=True) == EventFacts(is_terminator=True)


@pytest.mark.bug("E-06")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"role": "assistant"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": None, "refusal": None},
        {"content": "", "tool_calls": [], "extra": {}},
    ],
)
def test_an_event_that_says_nothing_is_no_content(fields: dict[str, object]) -> None:
    assert event(delta(**fields)) is PLAIN_EVENT


@pytest.mark.bug("E-06")
@pytest.mark.parametrize(
    "payload", [{}, {"choices": []}, {"choices": None}, {"id": "x", "prompt_filter_results": [{}], "choices": []}]
)
def test_an_event_without_choices_is_no_content(payload: dict[str, object]) -> None:
    assert event(payload) is PLAIN_EVENT


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "a"},
        {"content": " "},
        {"content": "\n"},
        {"role": "assistant", "content": "a"},
        {"tool_calls": [{"index": 0}]},
        {"function_call": {"name": "f"}},
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"refusal": "no"},
        {"audio": {"id": "a"}},
        {"what_comes_next": 1},
    ],
)
def test_whatever_is_said_is_content(fields: dict[str, object]) -> None:
    assert event(delta(**fields)).has_content


@pytest.mark.trap("7")
@pytest.mark.parametrize(
    ("fields", "is_reasoning"),
    [
        ({"reasoning_content": "hm"}, True),
        ({"reasoning": "hm"}, True),
        ({"reasoning": "hm", "reasoning_details": [{"text": "hm"}]}, True),
        ({"role": "assistant", "content": None, "reasoning": "hm"}, True),
        ({"reasoning": "hm", "content": "a"}, False),
        ({"reasoning": "hm", "tool_calls": [{"index": 0}]}, False),
        ({"what_comes_next": 1}, False),
    ],
)
def test_reasoning_is_content_of_its_own_kind(fields: dict[str, object], is_reasoning: bool) -> None:
    assert event(delta(**fields)) == EventFacts(has_content=True, is_reasoning=is_reasoning)


def test_content_of_any_choice_counts() -> None:
    payload = {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {"content": "a"}}]}

    assert event(payload).has_content


def test_content_is_not_looked_for_once_it_has_come() -> None:
    assert event(delta(content="a"), before_visible=False) is PLAIN_EVENT


@pytest.mark.bug("E-12")
@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls", "content_filter", "eos"])
def test_the_finish_reason_is_the_provider_s_own(finish: str) -> None:
    payload = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}

    assert event(payload) == EventFacts(finish_reason=finish)


@pytest.mark.bug("E-12")
def test_an_event_may_have_content_and_its_end_at_once() -> None:
    payload = {"choices": [{"index": 0, "delta": {"reasoning": "hm"}, "finish_reason": "length"}]}

    assert event(payload) == EventFacts(has_content=True, is_reasoning=True, finish_reason="length")


@pytest.mark.bug("E-12")
def test_an_event_without_a_finish_reason_gets_none() -> None:
    assert event(delta(reasoning="hm")).finish_reason is None


@pytest.mark.bug("E-07")
@pytest.mark.parametrize("choices", [{"choices": []}, {}, {"choices": None}], ids=["empty", "absent", "null"])
def test_an_event_of_usage_only_is_read(choices: dict[str, object]) -> None:
    payload = choices | {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}

    assert event(payload) == EventFacts(usage=Usage(3, 4), is_usage_only=True)


@pytest.mark.bug("E-02")
def test_usage_glued_to_the_last_content_is_read_and_its_event_is_not_usage_only() -> None:
    payload = delta(content="a") | {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}

    assert event(payload) == EventFacts(has_content=True, usage=Usage(3, 4))


def test_null_usage_is_no_usage() -> None:
    assert event(delta() | {"usage": None}) is PLAIN_EVENT


ERRORS_INSIDE: dict[str, tuple[dict[str, Any], ProviderError]] = {
    "top level": (
        {"choices": [], "error": {"code": 502, "message": "down", "type": "t", "param": "p"}},
        ProviderError("down", "t", "502", "p"),
    ),
    "null choices": ({"choices": None, "error": {"message": "x"}}, ProviderError("x")),
    "in a choice": (
        {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "gone"}}]},
        ProviderError("gone", None, "502"),
    ),
    "in a choice without finish": ({"choices": [{"error": {"message": "gone"}}]}, ProviderError("gone")),
    "in the second choice": ({"choices": [{}, {"error": "gone"}]}, ProviderError("gone")),
    "finish reason only": (
        {"choices": [{"delta": {}, "finish_reason": "error"}]},
        ProviderError("The provider ended the answer with an error."),
    ),
}


@pytest.mark.bug("E-05")
@pytest.mark.parametrize("before_visible", [True, False], ids=["before content", "after content"])
@pytest.mark.parametrize(("payload", "error"), ERRORS_INSIDE.values(), ids=ERRORS_INSIDE)
def test_an_error_within_a_stream_is_seen(payload: dict[str, Any], error: ProviderError, before_visible: bool) -> None:
    assert event(payload, before_visible=before_visible) == EventFacts(error=error)


@pytest.mark.parametrize("payload", [{"error": None}, {"choices": [{"delta": {}, "error": None}]}])
def test_a_null_error_is_none(payload: dict[str, Any]) -> None:
    assert event(payload) is PLAIN_EVENT


@pytest.mark.bug("E-16")
@pytest.mark.parametrize(
    "data",
    [
        b'{"choices":[]}{}',
        b'{"choices":5,"x":',
        b'{"choices":[{"delta":{},"finish_reason":5}],"x":',
        b'{"usage":{"prompt_tokens":-1},"choices":[{"delta":',
    ],
)
def test_broken_json_is_malformed(data: bytes) -> None:
    assert CODEC.read_event(data, before_visible=True) == EventFacts(is_malformed=True)


@pytest.mark.parametrize("odd", [None, "text", 5, [1]])
def test_a_delta_of_another_shape_is_no_content(odd: object) -> None:
    assert event({"choices": [{"delta": odd}]}) is PLAIN_EVENT


# --- unary answers


@pytest.mark.parametrize("tokens", [1, None])
def test_a_proper_answer_has_usage_or_nothing_to_tell(tokens: int | None) -> None:
    expected = AnswerFacts() if tokens is None else AnswerFacts(Usage(5, tokens))

    assert answer(said("hi", tokens=tokens)) == expected


@pytest.mark.bug("B-11")
@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":{}}',
        b'{"choices":"x"}',
        b'{"choices":[1]}',
        b'{"choices":[{"message":{}}]}trailing',
        b'{"usage":{"prompt_tokens":"x"},"choices":[',
    ],
)
def test_a_success_that_cannot_be_read_is_malformed(body: bytes) -> None:
    assert CODEC.read_answer(body) == AnswerFacts(fault="malformed")


@pytest.mark.bug("B-15")
@pytest.mark.parametrize(("payload", "error"), ERRORS_INSIDE.values(), ids=ERRORS_INSIDE)
def test_an_error_within_a_success_is_seen(payload: dict[str, Any], error: ProviderError) -> None:
    assert answer(payload) == AnswerFacts(error=error)


def test_an_error_within_a_success_keeps_the_usage() -> None:
    payload = {"error": {"message": "x"}, "usage": {"prompt_tokens": 3}}

    assert answer(payload) == AnswerFacts(Usage(3), ProviderError("x"))


@pytest.mark.bug("B-15", "B-16")
@pytest.mark.parametrize("payload", [{}, {"choices": None}, {"choices": []}, {"object": "chat.completion"}])
def test_an_answer_without_choices_is_empty(payload: dict[str, Any]) -> None:
    assert answer(payload) == AnswerFacts(fault="empty")


@pytest.mark.bug("B-16")
@pytest.mark.parametrize("text", ["", None])
def test_an_answer_that_the_provider_calls_empty_is_empty(text: str | None) -> None:
    assert answer(said(text, tokens=0)).fault == "empty"


@pytest.mark.bug("B-16")
@pytest.mark.parametrize(
    "payload",
    [
        said("", tokens=1),
        said("", tokens=None),
        said("x", tokens=0),
        said("", finish="length", tokens=0),
        said("", finish="content_filter", tokens=0),
        said(None, finish="length", reasoning_content="hm"),
        said(None, tokens=0, tool_calls=[{"id": "c"}]),
        said(None, tokens=0, refusal="no"),
        {"choices": [{}]},
    ],
)
def test_a_model_may_rightly_say_little(payload: dict[str, Any]) -> None:
    assert answer(payload).fault is None


# --- usage


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": 3}, Usage(3)),
        ({"prompt_tokens": None, "completion_tokens": 4}, Usage(None, 4)),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 4,
                "total_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 1},
                "cost": 0.1,
            },
            Usage(3, 4, 2, 1, 1, charged_usd=0.1),
        ),
        ({"prompt_tokens_details": None, "completion_tokens_details": None}, Usage()),
        ({"prompt_tokens": 2**53 - 1}, Usage(2**53 - 1)),
    ],
)
def test_tokens_are_counted_as_the_provider_says(counts: dict[str, object], usage: Usage) -> None:
    payload = said("x", tokens=None) | {"usage": counts}

    assert answer(payload) == AnswerFacts(usage)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, 2**53, 10**30, [], {}])
def test_a_count_that_is_none_costs_the_usage_but_not_the_answer(count: object) -> None:
    payload = said("x", tokens=None) | {"usage": {"prompt_tokens": count, "completion_tokens": 4}}

    assert answer(payload) == AnswerFacts()
    assert event(delta(content="x") | {"usage": {"completion_tokens": count}}) == EventFacts(has_content=True)


@pytest.mark.parametrize("usage", ["x", 5, []])
def test_usage_of_another_shape_is_no_usage(usage: object) -> None:
    assert answer(said("x", tokens=None) | {"usage": usage}) == AnswerFacts()


# --- errors of ours


def test_an_error_has_all_four_keys() -> None:
    written = CODEC.write_error(GatewayError(ErrorKind.BAD_REQUEST, "no", param="model"), "req_1")

    assert json.loads(written) == {
        "error": {"message": "no", "type": "invalid_request_error", "param": "model", "code": "invalid_request"}
    }


def test_an_error_without_a_param_says_null() -> None:
    written = CODEC.write_error(GatewayError(ErrorKind.OVERLOADED, "full"), "req_1")

    assert json.loads(written)["error"]["param"] is None


def test_a_broken_stream_ends_with_an_error_event_and_the_terminator() -> None:
    error = GatewayError(ErrorKind.UPSTREAM_ERROR, 'a\n"b"')

    written = CODEC.write_stream_error(error, CODEC.decoder())

    assert written == b"data: " + CODEC.write_error(error, "req_1") + b"\n\ndata: [DONE]\n\n"
    assert written.count(b"\n\n") == 2


def test_the_terminator_is_its_own_event() -> None:
    written = CODEC.write_terminator()

    assert CODEC.read_event(written[len(b"data: ") : -2], before_visible=False).is_terminator
