import json
from typing import Any

import pytest

from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts, ParsedRequest
from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.domain.request import Dialect, RequestFacts

CODEC = OpenAIChat()
NO_MESSAGE = "The provider gave no message."


def parsed(**fields: object) -> ParsedRequest:
    return CODEC.read_request(json.dumps({"model": "m", "messages": []} | fields).encode())


def refusal(body: bytes) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        CODEC.read_request(body)
    return raised.value


def event(payload: object, *, before_content: bool = True) -> EventFacts:
    return CODEC.read_event(json.dumps(payload).encode(), before_content=before_content)


def delta(**fields: object) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def answer(payload: object) -> AnswerFacts:
    return CODEC.read_answer(json.dumps(payload).encode())


def said(text: str | None, finish: str = "stop", tokens: int | None = 1, **message: object) -> dict[str, Any]:
    usage = {} if tokens is None else {"usage": {"prompt_tokens": 5, "completion_tokens": tokens}}
    message = {"role": "assistant", "content": text} | message
    return {"choices": [{"message": message, "finish_reason": finish}], **usage}


def test_the_dialect_is_registered() -> None:
    codec = DIALECTS[Dialect.OPENAI_CHAT]

    assert isinstance(codec, OpenAIChat)
    assert codec.path == "/chat/completions"


# --- requests: facts


def test_a_plain_request_has_plain_facts() -> None:
    body = b'{"model":"m","messages":[]}'

    assert CODEC.read_request(body).facts == RequestFacts(Dialect.OPENAI_CHAT, "m", False, len(body))


@pytest.mark.parametrize(
    ("fields", "fact", "expected"),
    [
        ({"model": "gpt/é"}, "model", "gpt/é"),
        ({"stream": True}, "stream", True),
        ({"stream": False}, "stream", False),
        ({"stream": None}, "stream", False),
        ({"tools": [{}, {}]}, "tool_count", 2),
        ({"tools": []}, "tool_count", 0),
        ({"tools": None}, "tool_count", 0),
        ({"tools": "x"}, "tool_count", 0),
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
        ({"model": ""}, "model"),
        ({"model": None}, "model"),
        ({"model": 1}, "model"),
        ({"model": ["m"]}, "model"),
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


def test_a_request_must_name_a_model() -> None:
    assert refusal(b'{"messages":[]}').param == "model"


@pytest.mark.case("I18")
@pytest.mark.parametrize(
    "name",
    [
        "Model",
        "MODEL",
        "moDel",
        "Stream",
        "\u017ftream",
        "STREAM_OPTIONS",
        "Stream_options",
        "\u017ftream_option\u017f",
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
def test_another_case_of_an_edited_field_is_refused(name: str, ascii_only: bool) -> None:
    body = json.dumps({"model": "m", name: None}, ensure_ascii=ascii_only).encode()

    error = refusal(body)

    assert (error.status, error.param) == (400, name)


@pytest.mark.parametrize("name", ["Messages", "modell", "model ", "stream-options", "modèl", "TOOLS"])
def test_any_other_field_is_the_provider_s_to_judge(name: str) -> None:
    assert parsed(**{name: 1}).facts.model == "m"


@pytest.mark.case("I18")
@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"a","model":"b"}',
        b'{"model":"a","\\u006dodel":"b"}',
        b'{"model":"a","stream":false,"stream":true}',
        b'{"model":"a","n":12,"model":"a","n":1}',
        b'{"model":"a","max_tokens":1,"max_tokens":100000}',
    ],
)
def test_a_request_that_says_a_thing_twice_is_refused(body: bytes) -> None:
    assert refusal(body).status == 400


@pytest.mark.parametrize("body", [b"", b"[]", b'{"model":', b"\xef\xbb\xbf{}", b'{"model":NaN}', b'{"model":"\xff"}'])
def test_what_is_no_object_of_json_is_refused(body: bytes) -> None:
    assert refusal(body).status == 400


def test_a_model_that_is_half_a_character_is_refused() -> None:
    assert refusal(b'{"model":"\\ud800"}').status == 400


# --- requests: edits

ODD = (
    '\n{ "temperature":1.0,"top_p": 1e3,  "big":123456789012345678901234567890,'
    '"messages":[{"content":"\\u00e9 é 👩\\/ \\"model\\":\\"x\\"","role":"user"}],\t"model" :  "m\\u0061" ,'
    '"tools":[{"z":{"b":1,"a":{"model":"no"}}}], "n":-0.0, "x":null}\r\n'
).encode()


@pytest.mark.bug("D-06")
def test_only_the_name_of_the_model_changes() -> None:
    written = CODEC.write_request(CODEC.read_request(ODD), "other")

    assert written == ODD.replace(b'"m\\u0061"', b'"other"')


@pytest.mark.bug("D-06")
def test_a_compact_request_changes_in_its_model_only() -> None:
    body = b'{"messages":[{"role":"user","content":"m"}],"model":"m","temperature":1.0}'

    written = CODEC.write_request(CODEC.read_request(body), "longer-name")

    assert written == b'{"messages":[{"role":"user","content":"m"}],"model":"longer-name","temperature":1.0}'


@pytest.mark.parametrize("model", ['a"b', "a\\b", "é", "a\nb", "</script>"])
def test_the_name_of_a_model_is_written_as_json(model: str) -> None:
    written = CODEC.write_request(parsed(), model)

    assert json.loads(written)["model"] == model


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


def test_a_parsed_request_may_be_written_for_several_models() -> None:
    request = parsed(stream=True)

    written = [json.loads(CODEC.write_request(request, model))["model"] for model in ("a", "bb", "a")]

    assert written == ["a", "bb", "a"]


# --- events


@pytest.mark.parametrize("data", [b"[DONE]", b" [DONE] ", b"[DONE]\n"])
def test_the_terminator_is_recognised(data: bytes) -> None:
    assert CODEC.read_event(data, before_content=True) == EventFacts(is_terminator=True)


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


def test_content_of_any_choice_counts() -> None:
    payload = {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {"content": "a"}}]}

    assert event(payload).has_content


def test_content_is_not_looked_for_once_it_has_come() -> None:
    assert event(delta(content="a"), before_content=False) is PLAIN_EVENT


@pytest.mark.bug("E-12")
@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls", "content_filter", "eos"])
def test_the_finish_reason_is_the_provider_s_own(finish: str) -> None:
    payload = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}

    assert event(payload) == EventFacts(finish_reason=finish)


@pytest.mark.bug("E-12")
def test_an_event_may_have_content_and_its_end_at_once() -> None:
    payload = {"choices": [{"index": 0, "delta": {"reasoning": "hm"}, "finish_reason": "length"}]}

    assert event(payload) == EventFacts(has_content=True, finish_reason="length")


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
    "alone": ({"error": {"message": "slow", "code": "rate_limit"}}, ProviderError("slow", None, "rate_limit")),
    "numeric code": ({"error": {"code": 429, "message": "slow"}}, ProviderError("slow", None, "429")),
    "text": ({"error": "broken"}, ProviderError("broken")),
    "empty object": ({"error": {}}, ProviderError(NO_MESSAGE)),
    "list": ({"error": ["x"]}, ProviderError("The provider reported an error of an unknown shape.")),
    "flag": ({"error": True}, ProviderError("The provider reported an error of an unknown shape.")),
    "null choices": ({"choices": None, "error": {"message": "x"}}, ProviderError("x")),
    "Anthropic": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        ProviderError("busy", "overloaded_error"),
    ),
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
    "odd message": ({"error": {"message": {"a": 1}, "code": 429}}, ProviderError(NO_MESSAGE, None, "429")),
    "odd type": ({"error": {"message": "x", "type": 5, "code": 429}}, ProviderError("x", None, "429")),
    "odd param": ({"error": {"message": "x", "param": ["a"], "code": "c"}}, ProviderError("x", None, "c")),
    "odd code": ({"error": {"message": "x", "code": {"a": 1}, "type": "t"}}, ProviderError("x", "t")),
    "flag as code": ({"error": {"message": "x", "code": True}}, ProviderError("x")),
}


@pytest.mark.bug("E-05")
@pytest.mark.parametrize("before_content", [True, False], ids=["before content", "after content"])
@pytest.mark.parametrize(("payload", "error"), ERRORS_INSIDE.values(), ids=ERRORS_INSIDE)
def test_an_error_within_a_stream_is_seen(payload: dict[str, Any], error: ProviderError, before_content: bool) -> None:
    assert event(payload, before_content=before_content) == EventFacts(error=error)


@pytest.mark.parametrize("payload", [{"error": None}, {"choices": [{"delta": {}, "error": None}]}])
def test_a_null_error_is_none(payload: dict[str, Any]) -> None:
    assert event(payload) is PLAIN_EVENT


@pytest.mark.bug("E-16")
@pytest.mark.parametrize(
    "data",
    [
        b'{"choices":[{"delta":{"con',
        b"{",
        b"<html>",
        b"DONE",
        b"[DONE",
        b'{"choices":[]}{}',
        b'{"choices":5,"x":',
        b'{"choices":[{"delta":{},"finish_reason":5}],"x":',
        b'{"usage":{"prompt_tokens":-1},"choices":[{"delta":',
        b"[1,",
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_broken_json_is_malformed(data: bytes) -> None:
    assert CODEC.read_event(data, before_content=True) == EventFacts(is_malformed=True)


@pytest.mark.parametrize("data", [b"[]", b'"text"', b"1", b"null", b'{"choices":5}', b'{"choices":[5]}'])
def test_sound_json_of_another_shape_is_relayed_as_it_is(data: bytes) -> None:
    assert CODEC.read_event(data, before_content=True) is PLAIN_EVENT


@pytest.mark.parametrize("data", [b"", b" ", b"\n"])
def test_an_event_with_empty_data_says_nothing(data: bytes) -> None:
    assert CODEC.read_event(data, before_content=True) is PLAIN_EVENT


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
        b"",
        b" ",
        b'{"choices":',
        b"<html>502</html>",
        b"\x1f\x8b\x08\x00gzip",
        b"\xef\xbb\xbf{}",
        b"null",
        b"[]",
        b'"ok"',
        b'{"choices":{}}',
        b'{"choices":"x"}',
        b'{"choices":[1]}',
        b'{"choices":[{"message":{}}]}trailing',
        b'{"usage":{"prompt_tokens":"x"},"choices":[',
        b"[" * 100_000,
        b'{"choices":' + b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:40]),
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
            Usage(3, 4, 2, 1, 1),
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


# --- errors of providers

DEFAULT = "The provider answered with status 500 and no message."
NOT_JSON = "The provider answered with status 500 and a body that is not JSON."


@pytest.mark.bug("B-08")
def test_the_error_of_llamacpp_for_a_full_context_gets_the_code_that_agents_know() -> None:
    error = {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}

    found = CODEC.read_error(400, json.dumps({"error": error}).encode())

    assert found == ProviderError("too long", "exceed_context_size_error", "context_length_exceeded")


@pytest.mark.bug("B-13")
@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (
            {"error": {"message": "m", "type": "t", "param": "p", "code": "c"}},
            ProviderError("m", "t", "c", "p"),
        ),
        ({"error": {"message": "m", "code": 503}}, ProviderError("m", None, "503")),
        ({"error": {"message": "m", "code": None, "type": None}}, ProviderError("m")),
        ({"error": "m"}, ProviderError("m")),
        (
            {"error": {"type": "overloaded_error", "message": "m"}, "type": "error"},
            ProviderError("m", "overloaded_error"),
        ),
        ({"message": "m", "code": 500, "type": "t"}, ProviderError("m", "t", "500")),
        ({"object": "error", "message": "m", "code": "c", "param": "p"}, ProviderError("m", None, "c", "p")),
        ({"detail": "m"}, ProviderError("m")),
        ({"detail": [{"loc": ["body"], "msg": "bad"}]}, ProviderError('[{"loc":["body"],"msg":"bad"}]')),
        ({"detail": {"a": 1}}, ProviderError('{"a":1}')),
        ({"error": None, "message": "m"}, ProviderError("m")),
        ({"error": None}, ProviderError(DEFAULT)),
        ({}, ProviderError(DEFAULT)),
        ({"message": ""}, ProviderError(DEFAULT)),
        ({"message": 5, "code": 7}, ProviderError(DEFAULT, None, "7")),
        ({"error": {"message": 5, "code": 429, "type": "t"}}, ProviderError(NO_MESSAGE, "t", "429")),
        ({"error": {"message": "m", "type": ["x"], "param": 5, "code": 1.5}}, ProviderError("m", None, "1.5")),
        ({"error": 5}, ProviderError("The provider reported an error of an unknown shape.")),
        ({"error": {"message": "a\x00b\x1b[2J\nc\x85d"}}, ProviderError("a b [2J c d")),
        ({"error": {"message": "x" * 5_000}}, ProviderError("x" * 1_000)),
        ({"error": "\n" + "y" * 5_000}, ProviderError("y" * 999)),
    ],
)
def test_the_error_of_a_provider_is_read_in_any_shape(payload: dict[str, Any], error: ProviderError) -> None:
    assert CODEC.read_error(500, json.dumps(payload).encode()) == error


@pytest.mark.bug("B-13")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>502 Bad Gateway <secret></body></html>",
        b"upstream connect error",
        b'{"error":',
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"error":{"message":"\xff"}}trailing',
        b"[" * 100_000,
        b'{"detail":' + b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_a_page_that_is_no_error_object_is_described_and_never_repeated(body: bytes) -> None:
    assert CODEC.read_error(500, body) == ProviderError(NOT_JSON)


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

    written = CODEC.write_stream_error(error)

    assert written == b"data: " + CODEC.write_error(error, "req_1") + b"\n\ndata: [DONE]\n\n"
    assert written.count(b"\n\n") == 2


def test_the_terminator_is_its_own_event() -> None:
    written = CODEC.write_terminator()

    assert CODEC.read_event(written[len(b"data: ") : -2], before_content=False).is_terminator
