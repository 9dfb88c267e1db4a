"""What goes through unchanged: request bodies, events and the few headers that pass."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.testing import Chat, Events, Json, Raw, chat, stream_of
from pointsman.testing.script import EVENT_STREAM_HEADERS, LAST_CHUNK, chunk, head
from pointsman.testing.wire import post
from tests.canaries import PROVIDER_KEY
from tests.integration.callers import DONE
from tests.integration.world import World, pieces

EXAMPLES = 150
PATH = "/v1/chat/completions"
STREAMED = b'{"model":"chat","stream":true}'
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    SCALARS | FLOATS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
STEERING = {"model", "stream", "stream_options"}
NAMES = st.text().filter(lambda name: name.lower() not in STEERING)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.mark.bug("A-18")
@pytest.mark.case("T59")
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(
    before=st.dictionaries(NAMES, JSON_VALUES, max_size=3),
    after=st.dictionaries(NAMES, JSON_VALUES, max_size=3),
    indent=st.sampled_from((None, 0, 3)),
    is_ascii=st.booleans(),
    cuts=st.lists(st.integers(0, 5_000), max_size=5),
)
def test_a_request_body_arrives_as_it_was_sent_but_for_the_model(
    world: World, before: Any, after: Any, indent: int | None, is_ascii: bool, cuts: list[int]
) -> None:
    fields = {**before, "model": "chat", **{name: value for name, value in after.items() if name not in before}}
    raw = json.dumps(fields, indent=indent, ensure_ascii=is_ascii).encode()

    reply = world.exchange(post(PATH, raw), Chat("ok"), cuts)

    assert reply.status == 200, reply.body
    wanted = json.dumps({**fields, "model": "m-a"}, indent=indent, ensure_ascii=is_ascii)
    assert world.a.log[-1].body == wanted.encode()


EVENTS = st.one_of(
    st.text(min_size=1).map(lambda text: chat.sse(chat.chunk(chat.text_delta(text)))),
    st.sampled_from(
        (
            b": keep-alive\n\n",
            b'event: message\ndata: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n',
            b'id: 7\r\ndata: {"choices": [{"delta": {"content": "crlf"}}], "obfuscation": "aX9"}\r\n\r\n',
            b'data: {"choices":\ndata: [{"delta": {"content": "two lines"}}]}\n\n',
            b'data:{"choices":[{"delta":{"content":"no space"}}]}\n\n',
            b'data: {"unknown": {"kept": [1.0, 1e5, "\\u00e9"]}, "choices":[{"delta":{}}]}\n\n',
        )
    ),
)


@pytest.mark.bug("E-01", "E-02", "E-03")
@pytest.mark.case("T21", "I36")
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(events=st.lists(EVENTS, min_size=1, max_size=8), cuts=st.lists(st.integers(0, 4_000), max_size=8))
def test_events_arrive_as_they_were_sent_wherever_they_were_cut(
    world: World, events: list[bytes], cuts: list[int]
) -> None:
    first, last = chat.sse(chat.chunk(chat.text_delta("é"))), chat.sse(chat.chunk({}, finish_reason="stop"))
    transcript = b"".join((first, *events, last, DONE))
    parts = [head(200, EVENT_STREAM_HEADERS), *map(chunk, pieces(transcript, cuts)), LAST_CHUNK]

    reply = world.exchange(post(PATH, STREAMED), Raw(tuple(parts), then="keep"))

    assert reply.body == transcript


@pytest.mark.bug("E-01")
@pytest.mark.case("T21")
def test_a_transcript_cut_into_single_bytes_arrives_unchanged(world: World) -> None:
    answer = stream_of("é", "日本", "🚂", split=1)

    reply = world.exchange(post(PATH, STREAMED), answer)

    assert reply.body == b"".join(chat.sse(event) for event in answer.events if not isinstance(event, bytes)) + DONE


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_a_body_of_one_mebibyte_passes_both_ways(world: World, stream: bool) -> None:
    text = "é" * (1 << 19)
    fields = {"model": "chat", "stream": stream, "stream_options": {"include_usage": True}, "pad": text}
    raw = json.dumps(fields).encode()
    long_event = chat.sse(chat.chunk(chat.text_delta("x" * (1 << 19))))
    body = json.dumps(chat.completion(text, to=chat.NOTHING_SPECIAL), ensure_ascii=False).encode()
    unary = Raw((head(200, (("content-length", str(len(body))),)) + body,), then="keep")

    reply = world.exchange(post(PATH, raw), Events((long_event, long_event)) if stream else unary)

    assert reply.body == (long_event * 2 + DONE if stream else body)
    assert world.a.log[-1].body == raw.replace(b'"chat"', b'"m-a"', 1)


PRIVATE = (
    ("set-cookie", "session=1"),
    ("openai-organization", "org-1"),
    ("openai-model", "secret"),
    ("openai-project", "p"),
    ("server", "cloudflare"),
    ("via", "1.1 proxy"),
    ("cf-ray", "1"),
    ("x-request-id", "theirs"),
)
LIMITS = (("x-ratelimit-remaining-requests", "9"), ("X-RateLimit-Reset-Tokens", "6m0s"))


@pytest.mark.bug("I-09")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_of_the_upstreams_headers_only_the_rate_limits_pass(world: World, stream: bool) -> None:
    raw = json.dumps({"model": "chat", "stream": stream}).encode()
    own = (("x-request-id", "mine"),)

    reply = world.exchange(post(PATH, raw, own), Chat("ok", headers=PRIVATE + LIMITS))

    ours = {b"date", b"content-type", b"content-length", b"transfer-encoding", b"request-id", b"x-request-id"}
    ours |= {b"cache-control", b"x-accel-buffering"}
    received = {name.lower(): value for name, value in reply.headers}
    passed = {name: received[name] for name in received if name not in ours and not name.startswith(b"x-pointsman-")}
    assert passed == {b"x-ratelimit-remaining-requests": b"9", b"x-ratelimit-reset-tokens": b"6m0s"}
    assert reply.header("x-request-id") == b"mine"


def test_of_the_callers_headers_no_credential_and_no_cookie_goes_on(world: World) -> None:
    headers = (("authorization", "Bearer callers-own"), ("cookie", "c=1"), ("x-api-key", "k"), ("openai-beta", "b=1"))

    world.exchange(post(PATH, b'{"model":"chat"}', headers), Json(200, chat.completion("ok", to=chat.NOTHING_SPECIAL)))

    received = {name.lower(): value for name, value in world.a.log[-1].headers}
    assert received.pop(b"authorization") == f"Bearer {PROVIDER_KEY}".encode()
    assert set(received) == {b"host", b"content-type", b"accept", b"accept-encoding", b"content-length", b"openai-beta"}


HOP_BY_HOP = (
    ("connection", "x-mine, keep-alive, openai-beta"),
    ("x-mine", "1"),
    ("openai-beta", "b=1"),
    ("keep-alive", "timeout=5"),
    ("te", "trailers"),
    ("trailer", "x-sum"),
    ("upgrade", "h2c"),
    ("proxy-authorization", "Basic eA=="),
    ("proxy-connection", "keep-alive"),
    ("http2-settings", "x"),
)


@pytest.mark.bug("I-05")
@pytest.mark.case("T64")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_what_concerns_one_connection_goes_no_further_in_either_direction(world: World, stream: bool) -> None:
    theirs = tuple((name, value) for name, value in HOP_BY_HOP if name not in {"connection", "upgrade"})
    raw = json.dumps({"model": "chat", "stream": stream}).encode()

    reply = world.exchange(post(PATH, raw, HOP_BY_HOP), Chat("ok", headers=(*theirs, ("connection", "keep-alive"))))

    concerned = {name.encode() for name, _ in HOP_BY_HOP}
    assert not concerned.intersection(name.lower() for name, _ in world.a.log[-1].headers)
    assert not concerned.intersection(name.lower() for name, _ in reply.headers)


ELSEWHERE = {
    "api_base": "http://evil.example/v1", "base_url": "http://evil.example/v1", "api_key": "sk-evil",
    "custom_host": "evil.example", "organization": "evil", "user_config": {"model_list": [{"api_base": "http://e/v1"}]},
    "litellm_params": {"api_base": "http://evil.example", "api_key": "x"}, "extra_body": {"base_url": "http://e/v1"},
}  # fmt: skip
LEADING = (
    ("x-portkey-custom-host", "http://evil.example/v1"), ("x-base-url", "http://evil.example"), ("x-api-base", "evil"),
    ("x-forwarded-host", "evil.example"), ("x-original-url", "/evil"), ("x-rewrite-url", "/evil"),
    ("openai-organization", "evil"), ("x-host", "evil.example"), ("forwarded", "host=evil.example"),
)  # fmt: skip


@pytest.mark.bug("N-01")
@pytest.mark.case("T97", "I13")
def test_nothing_that_a_caller_sends_leads_a_credential_elsewhere() -> None:
    raw = json.dumps({"model": "chat", "metadata": ELSEWHERE, **ELSEWHERE}).encode()
    query = "?api_base=http://evil.example&base_url=http://evil.example&api_key=sk-evil"
    with World(provider_fields={"a": {"api_key": "sk-ours"}}) as world:
        reply = world.exchange(post(PATH + query, raw, LEADING))
        received = world.a.log[-1]

    assert reply.status == 200
    assert received.header("authorization") == b"Bearer sk-ours"
    assert received.path == PATH
    assert received.body == raw.replace(b'"chat"', b'"m-a"', 1)  # unknown fields are only payload
    assert not any(b"evil" in value for _, value in received.headers)
