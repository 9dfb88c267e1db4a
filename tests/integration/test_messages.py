"""Anthropic Messages end to end: what goes to which target, in which bytes, and what comes back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, Events, FakeProvider, Raw, Status, ToolCall, chat, keys, messages, stream_of
from pointsman.testing.script import EVENT_STREAM_HEADERS, LAST_CHUNK, chunk, head
from pointsman.testing.wire import Reply, completions_request, messages_request, post
from tests.integration.callers import MESSAGES, ask, ask_all, asks, events, tally
from tests.integration.world import World, pieces

PATH = "/v1/messages"
STREAMED = b'{"model":"chat","max_tokens":9,"stream":true}'
VERSION = (("anthropic-version", "2026-10-21"),)
CLAUDE = {"kind": "anthropic", "api_key": "sk-ours"}
MIXED = {"a": {"dialects": ["openai_completions"]}, "b": {"dialects": ["anthropic_messages"]}}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(provider_fields={"a": CLAUDE}, server={"limits": {"body": 1 << 21}}) as world:
        yield world


# --- which target


@pytest.mark.req("D-060")
def test_each_dialect_goes_to_the_targets_that_speak_it(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("from a")) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, provider_fields=MIXED) as gw,
        ):
            replies = await ask_all(gw.base_url, [completions_request("chat"), messages_request("chat")], concurrency=1)

            assert tally(replies) == {(200, "from a"): 1, (200, "from b"): 1}
            records: list[dict[str, Any]] = await gw.records()
            return records

    asked_completions, asked_messages = run(scenario())

    assert asked_completions["decisions"][0]["excluded"] == {"b/m-b": "dialect_unsupported"}
    assert asked_messages["decisions"][0]["excluded"] == {"a/m-a": "dialect_unsupported"}
    assert asked_messages["facts"]["dialect"] == "anthropic_messages"


def test_group_that_nobody_can_be_asked_of_in_this_dialect_says_why(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=MIXED) as gw:
            return await ask(gw.base_url, messages_request("chat"))

    reply = run(scenario())

    assert (reply.status, reply.json()["error"]["type"]) == (400, "invalid_request_error")
    assert "a/m-a: its provider speaks neither the request's dialect nor one" in reply.json()["error"]["message"]


# --- bytes and headers


@pytest.mark.bug("G-09")
@pytest.mark.parametrize("path", [PATH, f"{PATH}/count_tokens"])
def test_thoughts_that_nobody_signed_do_not_reach_who_checks_signatures(world: World, path: str) -> None:
    thoughts, text = messages.thinking_block("hm", signature=""), messages.text_block("so")
    said = {"role": "assistant", "content": [thoughts, messages.thinking_block("mine"), text]}

    world.exchange(messages_request("chat", path=path, messages=[said]))

    assert world.a.log[-1].json()["messages"] == [{**said, "content": said["content"][1:]}]


@pytest.mark.bug("G-09")
def test_thoughts_reach_an_engine_that_signs_nothing_as_they_came(run: Any, gateway: Any) -> None:
    said = {"role": "assistant", "content": [messages.thinking_block("hm", signature=""), messages.text_block("so")]}

    async def scenario() -> Any:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, messages_request("chat", messages=[said]))
            return a.log[-1].json()

    assert run(scenario())["messages"] == [said]


@pytest.mark.parametrize("path", ["/messages", "/v1/messages", "/v1/v1/messages", "/v1/messages?beta=true"])
def test_a_missing_or_doubled_prefix_is_served_all_the_same(world: World, path: str) -> None:
    reply = world.exchange(messages_request("chat", path=path))

    assert (reply.status, world.a.log[-1].path) == (200, "/v1/messages")


@pytest.mark.bug("I-01", "I-03")
def test_provider_gets_its_own_key_the_callers_version_and_betas_and_nothing_else(world: World) -> None:
    credentials = (("authorization", "Bearer callers-own"), ("x-api-key", "callers-own"), ("cookie", "c=1"))
    betas = (("anthropic-beta", "a-2026-01-01,b-2026-02-02"), ("x-stainless-lang", "python"), ("openai-beta", "b=1"))

    world.exchange(messages_request("chat", headers=(*credentials, *VERSION, *betas)))

    received = {name.decode(): value.decode() for name, value in world.a.log[-1].headers}
    assert len(received) == len(world.a.log[-1].headers)
    for name in ("host", "content-length"):
        del received[name]
    assert received == {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
        "x-api-key": "sk-ours",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "a-2026-01-01,b-2026-02-02",
    }


def test_caller_without_a_version_gets_the_providers(world: World) -> None:
    world.exchange(messages_request("chat"))

    assert world.a.log[-1].header("anthropic-version") == b"2023-06-01"


EVENTS = st.one_of(
    st.text(min_size=1).map(lambda text: messages.sse(messages.text_delta(text))),
    st.sampled_from(
        (
            b": keep-alive\n\n",
            messages.sse(messages.ping()),
            b'event: content_block_delta\r\ndata: {"type":"content_block_delta","delta":{"text":"crlf"}}\r\n\r\n',
            b'id: 7\nevent:content_block_stop\ndata:{"type":"content_block_stop",\ndata: "index":0}\n\n',
            b'event: what_comes_next\ndata: {"type":"what_comes_next","kept":[1.0, 1e5, "\\u00e9"]}\n\n',
        )
    ),
)


@pytest.mark.bug("E-01", "E-02", "E-03")
@pytest.mark.case("T21", "I36")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(middle=st.lists(EVENTS, min_size=1, max_size=8), cuts=st.lists(st.integers(0, 4_000), max_size=8))
def test_events_arrive_as_they_were_sent_wherever_they_were_cut(
    world: World, middle: list[bytes], cuts: list[int]
) -> None:
    first, last = messages.sse(messages.message_start()), messages.sse(messages.message_delta("end_turn"))
    transcript = b"".join((first, messages.sse(messages.text_delta("é")), *middle, last, messages.STOP))
    parts = [head(200, EVENT_STREAM_HEADERS), *map(chunk, pieces(transcript, cuts)), LAST_CHUNK]

    reply = world.exchange(post(PATH, STREAMED), Raw(tuple(parts), then="keep"))

    assert reply.body == transcript


@pytest.mark.bug("E-01")
@pytest.mark.case("T21")
def test_a_transcript_cut_into_single_bytes_arrives_unchanged(world: World) -> None:
    answer = stream_of("é", "日本", "🚂", split=1, dialect=MESSAGES)

    reply = world.exchange(post(PATH, STREAMED), answer)

    sent = [messages.sse(event) for event in answer.events if not isinstance(event, bytes)]
    assert reply.body == b"".join(sent) + messages.STOP


@pytest.mark.bug("E-15")
def test_events_without_names_get_them(world: World) -> None:
    plain = [b"data: %b\n\n" % messages.sse(event).split(b"data: ")[1][:-2] for event in
             (messages.message_start(), messages.text_delta("hi"), messages.message_delta("end_turn"))]  # fmt: skip
    stop = b'data: {"type":"message_stop"}\n\n'

    reply = world.exchange(post(PATH, STREAMED), Events((*plain, stop), then="end"))

    types = [event["type"] for event in events(reply)]
    names = [line[7:].decode() for line in reply.body.split(b"\n") if line.startswith(b"event: ")]
    assert names == types == ["message_start", "content_block_delta", "message_delta", "message_stop"]


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.bug("G-01", "G-18")
def test_thinking_text_and_tools_pass_in_order(world: World, stream: bool) -> None:
    calls = (ToolCall("f", '{"a": 1}', id="t1"), ToolCall("g", id="t2"))

    reply = world.exchange(messages_request("chat", stream=stream), Chat("so", reasoning="hm hm", tool_calls=calls))

    if stream:
        opened = [event["content_block"]["type"] for event in events(reply) if event["type"] == "content_block_start"]
        assert opened == ["thinking", "text", "tool_use", "tool_use"]
    else:
        assert [block["type"] for block in reply.json()["content"]] == ["thinking", "text", "tool_use", "tool_use"]


def test_a_body_of_one_mebibyte_passes_both_ways(world: World) -> None:
    text = "é" * (1 << 19)
    raw = json.dumps({"model": "chat", "messages": [{"role": "user", "content": text}]}, ensure_ascii=False).encode()
    body = json.dumps(messages.message([messages.text_block(text)], to=chat.NOTHING_SPECIAL)).encode()
    unary = Raw((head(200, (("content-length", str(len(body))),)) + body,), then="keep")

    reply = world.exchange(post(PATH, raw), unary)

    assert reply.body == body
    assert world.a.log[-1].body == raw.replace(b'"chat"', b'"m-a"', 1)


@pytest.mark.bug("I-09")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_of_the_upstreams_headers_only_anthropics_limits_pass(world: World, stream: bool) -> None:
    private = (("request-id", "theirs"), ("anthropic-organization-id", "org"), ("set-cookie", "s=1"), ("via", "x"))
    limits = (("anthropic-ratelimit-requests-remaining", "9"), ("Anthropic-Ratelimit-Tokens-Reset", "2026-01-01"))

    reply = world.exchange(messages_request("chat", stream=stream), Chat("ok", headers=private + limits))

    received = {name.lower(): value for name, value in reply.headers}
    assert received[b"anthropic-ratelimit-requests-remaining"] == b"9"
    assert received[b"anthropic-ratelimit-tokens-reset"] == b"2026-01-01"
    assert received[b"request-id"] == received[b"x-request-id"] != b"theirs"
    assert {b"anthropic-organization-id", b"set-cookie", b"via"}.isdisjoint(received)


# --- usage

COUNTED = Usage(input_tokens=1045, output_tokens=70, cached_tokens=1024, cache_write_tokens=16)


@pytest.mark.bug("H-02", "H-03")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_usage_is_recorded_in_disjoint_parts_and_shown_as_it_came(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, dict[str, float], dict[str, Any]]:
        async with FakeProvider(name="a", default=Chat("hi", usage=COUNTED)) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, messages_request("chat", stream=stream))
            (record,) = await gw.records()
            return reply, gw.samples("tokens_total"), record

    reply, tokens, record = run(scenario())

    shown = events(reply)[-2]["usage"] if stream else reply.json()["usage"]
    assert (shown["input_tokens"], shown["cache_read_input_tokens"], shown["output_tokens"]) == (5, 1024, 70)
    assert {name: count for name, count in record["usage"].items() if count is not None} == {
        "input_tokens": 1045, "output_tokens": 70, "cached_tokens": 1024, "cache_write_tokens": 16,
    }  # fmt: skip
    kinds = {"input_uncached": 5, "input_cached": 1024, "input_cache_write": 16, "output": 70}
    assert tokens == {f'{{kind="{kind}",target="a/m-a"}}': count for kind, count in kinds.items()}


@pytest.mark.bug("H-03", "H-05")
def test_usage_of_both_ends_of_a_stream_is_put_together(run: Any, gateway: Any) -> None:
    begin = messages.message_start(usage={"input_tokens": 10, "cache_read_input_tokens": 30, "output_tokens": 1})
    said = begin, messages.text_delta("hi"), messages.message_delta("end_turn", {"output_tokens": 50})

    async def scenario() -> dict[str, Any]:
        async with FakeProvider(name="a", default=Events(said)) as a, gateway(a) as gw:
            await ask(gw.base_url, messages_request("chat", stream=True))
            (record,) = await gw.records()
            usage: dict[str, Any] = record["usage"]
            return usage

    usage = run(scenario())

    assert (usage["input_tokens"], usage["cached_tokens"], usage["output_tokens"]) == (40, 30, 50)


# --- errors


@pytest.mark.bug("E-06")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize(
    ("answer", "status", "type_"),
    [
        (Status(500), 502, "api_error"),
        (Status(529), 429, "rate_limit_error"),
        (Status(401), 502, "api_error"),
        (Status(404, "model: m-a"), 502, "api_error"),
        (Status(400, "max_tokens: required"), 400, "invalid_request_error"),
        (Status(413, "too big"), 413, "request_too_large"),
        (Status(403, "no"), 403, "permission_error"),
    ],
    ids=lambda value: str(getattr(value, "code", value)),
)
def test_a_failure_of_every_target_is_an_error_of_the_dialect(
    run: Any, gateway: Any, answer: Answer, status: int, type_: str, stream: bool
) -> None:
    options = {"retry": {"max_attempts": 1}}

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=answer) as a, gateway(a, **options) as gw:
            return await ask(gw.base_url, messages_request("chat", stream=stream))

    reply = run(scenario())

    assert (reply.status, reply.json()["type"], reply.json()["error"]["type"]) == (status, "error", type_)
    assert reply.json()["request_id"].encode() == reply.header("request-id")
    assert reply.header("x-should-retry") in {b"true", b"false"}


def test_paused_targets_are_an_overload(run: Any, gateway: Any) -> None:
    groups = {"chat": {"targets": [{"model": "a/m"}], "on_all_unavailable": "refuse"}}

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Status(500)) as a:
            async with gateway(a, groups=groups, retry={"max_attempts": 1}) as gw:
                *_, last = await ask_all(gw.base_url, asks(4, stream=False, dialect=MESSAGES), concurrency=1)
                return last

    reply = run(scenario())

    assert (reply.status, reply.json()["error"]["type"]) == (529, "overloaded_error")
    assert int(reply.header("retry-after") or 0) >= 1
    assert reply.header("x-should-retry") == b"true"


def sent(raw: bytes, path: str = PATH, *headers: tuple[str, str]) -> bytes:
    return post(path, raw, (("x-request-id", "mine-1"), *headers))


def got(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nhost: test\r\nx-request-id: mine-1\r\n\r\n".encode()


MISTAKES = {
    "bad_json": (sent(b'{"model": "chat",'), 400, "invalid_request_error", "not valid JSON"),
    "no_model": (sent(b"{}"), 400, "invalid_request_error", "Name a model"),
    "two_models": (sent(b'{"model":"chat","model":"x"}'), 400, "invalid_request_error", "more than once"),
    "another_case": (sent(b'{"model":"chat","Stream":true}'), 400, "invalid_request_error", "lower case"),
    "unknown_model": (sent(b'{"model":"chta"}'), 404, "not_found_error", "'chat'"),
    "wrong_path": (sent(b"{}", "/v1/messages/batches"), 404, "not_found_error", "/v1/messages, "),
    "wrong_path_with_a_version": (sent(b"{}", "/v1/complete", *VERSION), 404, "not_found_error", "/v1/messages, "),
    "wrong_method": (got(PATH), 405, "invalid_request_error", "POST"),
    "too_large": (sent(b'{"model":"chat","x":"%b"}' % (b"x" * (1 << 21))), 413, "request_too_large", "2097152 bytes"),
    "compressed": (sent(b"x", PATH, ("content-encoding", "br")), 415, "invalid_request_error", "gzip"),
}


@pytest.mark.bug("B-18", "I-07")
@pytest.mark.parametrize(("request_bytes", "status", "type_", "says"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_an_error_of_the_dialect(
    world: World, request_bytes: bytes, status: int, type_: str, says: str
) -> None:
    already = len(world.a.log)

    reply = world.exchange(request_bytes)

    assert (reply.status, reply.json()["error"]["type"], reply.json()["request_id"]) == (status, type_, "mine-1")
    assert says in reply.json()["error"]["message"]
    assert (reply.header("request-id"), reply.header("x-should-retry")) == (b"mine-1", b"false")
    assert len(world.a.log) == already


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
@pytest.mark.parametrize(
    ("key", "model", "path", "status", "type_"),
    [
        ("pm_good", "chat", PATH, 200, None),
        ("pm_good", "chat", f"{PATH}/count_tokens", 200, None),
        ("pm_wrong", "chat", PATH, 401, "authentication_error"),
        ("pm_wrong", "chat", f"{PATH}/count_tokens", 401, "authentication_error"),
        ("pm_good", "other", PATH, 403, "permission_error"),
        ("pm_good", "other", f"{PATH}/count_tokens", 403, "permission_error"),
    ],
)
def test_a_key_is_asked_for_in_either_header(
    guarded: World, header: str, key: str, model: str, path: str, status: int, type_: str | None
) -> None:
    credential = (header, key if header == "x-api-key" else f"Bearer {key}")

    reply = guarded.exchange(messages_request(model, path=path, headers=(credential,)))

    assert (reply.status, reply.json().get("error", {}).get("type")) == (status, type_)


@pytest.fixture(scope="module")
def guarded() -> Iterator[World]:
    """Only those with a key are let in, and only to one of the groups."""
    targets = [{"model": "a/m-a"}]
    auth = keys.section(keys.declaration("pm_good", models=["chat"]))
    with World(auth=auth, groups={"chat": {"targets": targets}, "other": {"targets": targets}}) as guarded:
        yield guarded


def test_clients_of_anthropic_get_their_own_shape_of_the_models(world: World) -> None:
    listed, one, others = [
        world.exchange(f"GET {path} HTTP/1.1\r\nhost: test\r\n{header}\r\n".encode()).json()
        for path, header in (
            ("/v1/models?limit=1000", "anthropic-version: 2023-06-01\r\n"),
            ("/v1/models/chat", "anthropic-version: 2023-06-01\r\n"),
            ("/v1/models", ""),
        )
    ]

    assert (listed["data"], listed["has_more"], listed["first_id"]) == ([one], False, "chat")
    assert (one["type"], others["object"]) == ("model", "list")


def test_page_of_models_that_cannot_be_is_refused_in_their_own_shape(world: World) -> None:
    reply = world.exchange(b"GET /v1/models?limit=x HTTP/1.1\r\nhost: test\r\nanthropic-version: 1\r\n\r\n")

    assert (reply.status, reply.json()["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.bug("B-15")
def test_error_of_the_caller_inside_a_success_is_no_success(world: World) -> None:
    said = {"type": "error", "error": {"type": "request_too_large", "message": "too big"}}

    reply = world.exchange(messages_request("chat"), Status(200, body=json.dumps(said).encode()))

    assert (reply.status, reply.json()["error"]["type"]) == (400, "request_too_large")
