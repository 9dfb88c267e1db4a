"""What every codec does alike."""

import json
from typing import Any

import pytest

from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, Codec, EventFacts
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.outcome import ProviderError
from pointsman.domain.request import Dialect, RequestFacts
from tests.unit.dialects.reader import Reader

NO_MESSAGE = "The provider gave no message."
UNKNOWN_SHAPE = "The provider reported an error of an unknown shape."

pytestmark = pytest.mark.parametrize("codec", DIALECTS.values(), ids=DIALECTS)


def test_every_dialect_has_a_codec_and_a_path_of_its_own(codec: Codec) -> None:
    assert list(DIALECTS) == list(Dialect)
    assert DIALECTS[codec.dialect] is codec
    assert [other.path for other in DIALECTS.values()].count(codec.path) == 1


# --- requests


def test_a_plain_request_has_plain_facts(codec: Codec) -> None:
    body = b'{"model":"m"}'

    assert codec.read_request(body).facts == RequestFacts(codec.dialect, "m", False, len(body))


def test_the_name_of_the_model_may_have_any_letters(codec: Codec) -> None:
    assert Reader(codec).parsed(model="vendor/é").facts.model == "vendor/é"


@pytest.mark.parametrize("model", ["", None, 1, ["m"]], ids=repr)
def test_a_model_that_is_no_name_is_refused(codec: Codec, model: object) -> None:
    error = Reader(codec).refusal(json.dumps({"model": model}).encode())

    assert (error.status, error.param) == (400, "model")
    assert "'model'" in error.message


def test_a_request_must_name_a_model(codec: Codec) -> None:
    assert Reader(codec).refusal(b'{"messages":[]}').param == "model"


@pytest.mark.case("I18")
@pytest.mark.parametrize("name", ["Model", "MODEL", "moDel"])
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
def test_another_case_of_the_model_is_refused(codec: Codec, name: str, ascii_only: bool) -> None:
    error = Reader(codec).refusal(json.dumps({"model": "m", name: None, "é": 1}, ensure_ascii=ascii_only).encode())

    assert (error.status, error.param) == (400, name)


@pytest.mark.parametrize("name", ["Messages", "modell", "model ", "stream-options", "modèl", "TOOLS"])
def test_any_other_field_is_the_providers_to_judge(codec: Codec, name: str) -> None:
    assert Reader(codec).parsed(**{name: 1}).facts.model == "m"


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
def test_a_request_that_says_a_thing_twice_is_refused(codec: Codec, body: bytes) -> None:
    assert Reader(codec).refusal(body).status == 400


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"model":', b"\xef\xbb\xbf{}", b'{"model":NaN}', b'{"model":"\xff"}', b'{"model":"\\ud800"}'],
)
def test_what_is_no_request_is_refused(codec: Codec, body: bytes) -> None:
    assert Reader(codec).refusal(body).status == 400


ODD = (
    '\n{ "temperature":1.0,"top_p": 1e3,  "big":123456789012345678901234567890,'
    '"messages":[{"content":"\\u00e9 é 👩\\/ \\"model\\":\\"x\\"","role":"user"}],\t"mode\\u006c" :  "m\\u0061" ,'
    '"tools":[{"z":{"b":1,"a":{"model":"no"}}}], "n":-0.0, "x":null}\r\n'
).encode()


@pytest.mark.bug("D-06")
@pytest.mark.parametrize(
    ("body", "name"),
    [(ODD, b'"m\\u0061"'), (b'{"messages":[{"role":"user","content":"m"}],"model":"m","temperature":1.0}', b'"m"')],
    ids=["odd", "compact"],
)
def test_only_the_name_of_the_model_changes(codec: Codec, body: bytes, name: bytes) -> None:
    written = codec.write_request(codec.read_request(body), "longer-name")

    before, after = body.rsplit(name, 1)
    assert written == before + b'"longer-name"' + after


@pytest.mark.parametrize("model", ['a"b', "a\\b", "é", "a\nb", "</script>"])
def test_the_name_of_a_model_is_written_as_json(codec: Codec, model: str) -> None:
    written = codec.write_request(Reader(codec).parsed(), model)

    assert json.loads(written)["model"] == model


def test_a_parsed_request_may_be_written_for_several_models(codec: Codec) -> None:
    request = Reader(codec).parsed(stream=True)

    written = [json.loads(codec.write_request(request, model))["model"] for model in ("a", "bb", "a")]

    assert written == ["a", "bb", "a"]


# --- answers and events


@pytest.mark.bug("B-11")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b'{"usage":',
        b"<html>502</html>",
        b"\x1f\x8b\x08\x00gzip",
        b"\xef\xbb\xbf{}",
        b"null",
        b"[]",
        b'"ok"',
        b"{}trailing",
        b"[" * 100_000,
        b'{"usage":' + b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_a_success_that_cannot_be_read_is_malformed(codec: Codec, body: bytes) -> None:
    assert codec.read_answer(body) == AnswerFacts(fault="malformed")


@pytest.mark.bug("B-15", "B-16")
def test_an_object_without_an_answer_is_empty(codec: Codec) -> None:
    assert codec.read_answer(b"{}") == AnswerFacts(fault="empty")


@pytest.mark.bug("E-16")
@pytest.mark.parametrize(
    "data",
    [
        b'{"choices":[{"delta":{"con',
        b'{"type":"content_block_delta","delta":{"te',
        b'{"type":"response.output_text.delta","delta":"te',
        b"{",
        b"<html>",
        b"DONE",
        b"[DONE",
        b'{"type":"ping"}{}',
        b"[1,",
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_broken_json_is_malformed(codec: Codec, data: bytes) -> None:
    assert codec.read_event(data, before_visible=True) == EventFacts(is_malformed=True)


@pytest.mark.parametrize("data", [b"[]", b'"text"', b"1", b"null", b'{"type":5}', b"{}", b"", b" ", b"\n"])
def test_what_is_not_ours_to_judge_is_relayed_as_it_is(codec: Codec, data: bytes) -> None:
    assert codec.read_event(data, before_visible=True) is PLAIN_EVENT


ERRORS_INSIDE: dict[str, tuple[dict[str, Any], ProviderError]] = {
    "alone": ({"error": {"message": "slow", "code": "rate_limit"}}, ProviderError("slow", None, "rate_limit")),
    "numeric code": ({"error": {"code": 429, "message": "slow"}}, ProviderError("slow", None, "429")),
    "text": ({"error": "broken"}, ProviderError("broken")),
    "empty object": ({"error": {}}, ProviderError(NO_MESSAGE)),
    "list": ({"error": ["x"]}, ProviderError(UNKNOWN_SHAPE)),
    "flag": ({"error": True}, ProviderError(UNKNOWN_SHAPE)),
    "Anthropic": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        ProviderError("busy", "overloaded_error"),
    ),
    "details": (
        {"type": "error", "error": {"type": "api_error", "message": "x", "details": {"error_code": "c"}}},
        ProviderError("x", "api_error", "c"),
    ),
    "odd details": (
        {"error": {"type": "api_error", "message": "x", "details": ["c"], "code": 500}},
        ProviderError("x", "api_error", "500"),
    ),
    "odd message": ({"error": {"message": {"a": 1}, "code": 429}}, ProviderError(NO_MESSAGE, None, "429")),
    "odd type": ({"error": {"message": "x", "type": 5, "code": 429}}, ProviderError("x", None, "429")),
    "odd param": ({"error": {"message": "x", "param": ["a"], "code": "c"}}, ProviderError("x", None, "c")),
    "odd code": ({"error": {"message": "x", "code": {"a": 1}, "type": "t"}}, ProviderError("x", "t")),
    "flag as code": ({"error": {"message": "x", "code": True}}, ProviderError("x")),
}
EVERY_ERROR = pytest.mark.parametrize(("payload", "error"), ERRORS_INSIDE.values(), ids=ERRORS_INSIDE)


@pytest.mark.bug("E-05")
@EVERY_ERROR
@pytest.mark.parametrize("before_visible", [True, False], ids=["before content", "after content"])
def test_an_error_within_a_stream_is_seen(
    codec: Codec, payload: dict[str, Any], error: ProviderError, before_visible: bool
) -> None:
    assert Reader(codec).event(payload, before_visible=before_visible) == EventFacts(error=error)


@pytest.mark.bug("B-15")
@EVERY_ERROR
def test_an_error_within_a_success_is_seen(codec: Codec, payload: dict[str, Any], error: ProviderError) -> None:
    assert Reader(codec).answer(payload) == AnswerFacts(error=error)


def test_a_null_error_is_none(codec: Codec) -> None:
    assert Reader(codec).event({"error": None}) is PLAIN_EVENT


# --- errors of providers

DEFAULT = "The provider answered with status 500 and no message."
NOT_JSON = "The provider answered with status 500 and a body that is not JSON."


@pytest.mark.bug("B-08")
def test_the_error_of_llamacpp_for_a_full_context_gets_the_code_that_agents_know(codec: Codec) -> None:
    error = {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}

    found = codec.read_error(400, json.dumps({"error": error}).encode())

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
        ({"error": 5}, ProviderError(UNKNOWN_SHAPE)),
        ({"error": {"message": "a\x00b\x1b[2J\nc\x85d"}}, ProviderError("a b [2J c d")),
        ({"error": {"message": "x" * 5_000}}, ProviderError("x" * 1_000)),
        ({"error": "\n" + "y" * 5_000}, ProviderError("y" * 999)),
    ],
)
def test_the_error_of_a_provider_is_read_in_any_shape(
    codec: Codec, payload: dict[str, Any], error: ProviderError
) -> None:
    assert codec.read_error(500, json.dumps(payload).encode()) == error


@pytest.mark.bug("B-13", "P-11")
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
def test_a_page_that_is_no_error_object_is_described_and_never_repeated(codec: Codec, body: bytes) -> None:
    assert codec.read_error(500, body) == ProviderError(NOT_JSON)


# --- errors of ours


@pytest.mark.bug("E-04")
def test_what_ends_a_broken_stream_is_an_error_to_a_reader_of_the_dialect(codec: Codec) -> None:
    error = GatewayError(ErrorKind.UPSTREAM_ERROR, 'a\n"b"')

    first, *_ = codec.decoder().feed(b": begin\n\n" + codec.write_stream_error(error, codec.decoder()))[1:]

    found = codec.read_event(first.data or b"", before_visible=False).error
    assert found is not None
    assert (found.message, found.code) == ('a "b"', "upstream_error")
