"""OpenAI Responses end to end: what goes to which target, in which bytes, and what comes back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, Events, FakeProvider, Json, Raw, Status, ToolCall, responses, stream_of
from pointsman.testing.script import EVENT_STREAM_HEADERS, LAST_CHUNK, chunk, head
from pointsman.testing.wire import Reply, completions_request, post, responses_request
from tests.integration.callers import RESPONSES, ask, ask_all, events, tally
from tests.integration.world import World, pieces

PATH = "/v1/responses"
STREAMED = b'{"model":"chat","input":"hi","stream":true}'


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(provider_fields={"a": {"kind": "openai", "api_key": "sk-ours"}}) as world:
        yield world


# --- which target


@pytest.mark.req("D-060")
def test_each_dialect_goes_to_the_targets_that_speak_it(run: Any, gateway: Any) -> None:
    spoken = {name: {"dialects": [dialect]} for name, dialect in
              {"a": "openai_completions", "b": "openai_responses", "c": "openai_embeddings"}.items()}  # fmt: skip

    async def scenario() -> list[dict[str, Any]]:
        async with (
            FakeProvider(name="a", default=Chat("from a")) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            FakeProvider(name="c", default=Chat("from c")) as c,
            gateway(a, b, c, provider_fields=spoken) as gw,
        ):
            requests = [make("chat") for make in (completions_request, responses_request)]
            replies = await ask_all(gw.base_url, requests, concurrency=1)

            assert tally(replies) == {(200, "from a"): 1, (200, "from b"): 1}
            records: list[dict[str, Any]] = await gw.records()
            return records

    _, asked = run(scenario())

    assert asked["facts"]["dialect"] == "openai_responses"
    assert asked["decisions"][0]["excluded"] == dict.fromkeys(("a/m-a", "c/m-c"), "dialect_unsupported")


# --- bytes and headers


@pytest.mark.parametrize("path", ["/responses", "/v1/responses", "/v1/v1/responses"])
def test_a_missing_or_doubled_prefix_is_served_all_the_same(world: World, path: str) -> None:
    reply = world.exchange(responses_request("chat", path=path))

    assert (reply.status, world.a.log[-1].path) == (200, "/v1/responses")


@pytest.mark.bug("I-01", "I-03")
def test_provider_gets_its_own_key_the_callers_betas_and_nothing_else(world: World) -> None:
    credentials = (("authorization", "Bearer callers-own"), ("x-api-key", "callers-own"), ("cookie", "c=1"))
    codex = (("session-id", "s"), ("originator", "codex_exec"), ("openai-beta", "responses=experimental"))

    world.exchange(responses_request("chat", headers=(*credentials, *codex)))

    received = {name.decode(): value.decode() for name, value in world.a.log[-1].headers}
    for name in ("host", "content-length"):
        del received[name]
    assert received == {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": "Bearer sk-ours",
        "openai-beta": "responses=experimental",
    }


@pytest.mark.bug("D-06", "E-10")
def test_a_request_of_an_agent_changes_in_its_model_only(world: World) -> None:
    body = (
        b'{"model" : "chat","instructions":"You are \\u00e9.","input":[{"type":"message","role":"user",'
        b'"content":[{"type":"input_text","text":"model: \\"chat\\""}]}],"tools":[{"type":"function","name":"shell",'
        b'"strict":false,"parameters":{"type":"object"}}],"tool_choice":"auto","parallel_tool_calls":false,'
        b'"reasoning":{"effort":"medium"},"store":false,"stream":true,"include":["reasoning.encrypted_content"],'
        b'"prompt_cache_key":"k","client_metadata":{"x":1e0}}'
    )

    reply = world.exchange(post(PATH, body))

    assert reply.status == 200
    assert world.a.log[-1].body == body.replace(b'"model" : "chat"', b'"model" : "m-a"')


EVENTS = st.one_of(
    st.text(min_size=1).map(lambda text: responses.sse(responses.text_delta(text))),
    st.sampled_from(
        (
            b": keep-alive\n\n",
            b'event: response.output_text.delta\r\ndata: {"type":"response.output_text.delta","delta":"crlf"}\r\n\r\n',
            b'data: {"type":"response.output_text.delta","delta":"without a name"}\n\n',
            b'id: 7\nevent:response.output_text.done\ndata:{"type":"response.output_text.done",\ndata: "text":""}\n\n',
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
    first = b"".join(map(responses.sse, responses.created()))
    last = responses.sse(responses.ended(responses.response([responses.message_item("é")])))
    transcript = b"".join((first, responses.sse(responses.text_delta("é")), *middle, last))
    parts = [head(200, EVENT_STREAM_HEADERS), *map(chunk, pieces(transcript, cuts)), LAST_CHUNK]

    reply = world.exchange(post(PATH, STREAMED), Raw(tuple(parts), then="keep"))

    assert reply.body == transcript


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.bug("G-01", "G-18")
def test_reasoning_text_and_tools_pass_in_order(world: World, stream: bool) -> None:
    calls = (ToolCall("f", '{"a": 1}', id="t1"), ToolCall("g", id="t2"))

    reply = world.exchange(responses_request("chat", stream=stream), Chat("so", reasoning="hm hm", tool_calls=calls))

    answer = events(reply)[-1]["response"] if stream else reply.json()
    assert [item["type"] for item in answer["output"]] == ["reasoning", "message", "function_call", "function_call"]
    assert [item["arguments"] for item in answer["output"][2:]] == ['{"a": 1}', "{}"]
    if stream:
        assert [event["sequence_number"] for event in events(reply)] == list(range(len(events(reply))))


@pytest.mark.bug("I-09")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_of_the_upstreams_headers_only_its_limits_pass(world: World, stream: bool) -> None:
    private = (("openai-organization", "org"), ("openai-model", "m"), ("set-cookie", "s=1"), ("x-request-id", "theirs"))

    reply = world.exchange(
        responses_request("chat", stream=stream), Chat("ok", headers=(*private, ("x-ratelimit-remaining-tokens", "9")))
    )

    received = {name.lower(): value for name, value in reply.headers}
    assert received[b"x-ratelimit-remaining-tokens"] == b"9"
    assert received[b"request-id"] == received[b"x-request-id"] != b"theirs"
    assert {b"openai-organization", b"openai-model", b"set-cookie"}.isdisjoint(received)


# --- the life of a response


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_in_the_background_is_answered_by_its_receipt(world: World, status: str) -> None:
    receipt = responses.response([], status=status) | {"background": True}

    reply = world.exchange(responses_request("chat", background=True), Json(200, receipt))

    assert (reply.status, reply.json()) == (200, receipt)


@pytest.mark.bug("E-12")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_incomplete_answer_is_passed_on_as_what_it_is(world: World, stream: bool, finish: str, reason: str) -> None:
    reply = world.exchange(responses_request("chat", stream=stream), Chat("cut", finish_reason=finish))

    answer = events(reply)[-1]["response"] if stream else reply.json()
    assert (answer["status"], answer["incomplete_details"]) == ("incomplete", {"reason": reason})


@pytest.mark.bug("E-04")
def test_a_broken_stream_ends_with_the_response_that_had_begun(world: World) -> None:
    begun = responses.created()[0]["response"]
    answer = stream_of("one", then="cut", dialect=RESPONSES)

    reply = world.exchange(post(PATH, STREAMED), answer)

    last = events(reply)[-1]
    assert last["sequence_number"] == len(answer.events)
    assert last["response"] | {"error": None, "status": "in_progress"} == begun
    assert (last["response"]["status"], last["response"]["error"]["code"]) == ("failed", "upstream_error")
    assert "truncated" in last["response"]["error"]["message"]


@pytest.mark.bug("E-05", "D-07")
def test_a_failure_after_content_is_told_once_in_the_providers_words(run: Any, gateway: Any) -> None:
    said = Events((*responses.created(), responses.text_delta("a"), FAILED), then="end")

    async def scenario() -> tuple[Reply, dict[str, Any]]:
        async with FakeProvider(name="a", default=said) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, responses_request("chat", stream=True))
            (record,) = await gw.records()
            return reply, record

    reply, record = run(scenario())

    (failed,) = [event for event in events(reply) if event["type"] == "response.failed"]
    assert failed["response"]["error"] == {"code": "server_error", "message": "out of order"}
    assert record["attempts"][0]["outcome_class"] == "broken_stream"


FAILED = responses.failed("server_error", "out of order")

# --- usage

COUNTED = Usage(input_tokens=1045, output_tokens=70, cached_tokens=1024, reasoning_tokens=64)


@pytest.mark.bug("H-02", "H-04")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
def test_usage_is_recorded_in_disjoint_parts_and_shown_as_it_came(run: Any, gateway: Any, stream: bool) -> None:
    async def scenario() -> tuple[Reply, dict[str, float], dict[str, Any]]:
        async with FakeProvider(name="a", default=Chat("hi", usage=COUNTED)) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, responses_request("chat", stream=stream))
            (record,) = await gw.records()
            return reply, gw.samples("tokens_total"), record

    reply, tokens, record = run(scenario())

    shown = events(reply)[-1]["response"]["usage"] if stream else reply.json()["usage"]
    assert (shown["input_tokens"], shown["input_tokens_details"]) == (1045, {"cached_tokens": 1024})
    assert {name: count for name, count in record["usage"].items() if count is not None} == {
        "input_tokens": 1045, "output_tokens": 70, "cached_tokens": 1024, "reasoning_tokens": 64,
    }  # fmt: skip
    assert sum(tokens.values()) == 1045 + 70


# --- errors


@pytest.mark.bug("E-06")
@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (Status(500), 502, "upstream_error"),
        (Status(429), 429, "upstream_rate_limited"),
        (Status(401), 502, "upstream_misconfigured"),
        (Status(400, {"message": "too long", "code": "context_length_exceeded"}), 400, "context_length_exceeded"),
        (Status(400, {"message": "gone", "code": "previous_response_not_found"}), 400, "previous_response_not_found"),
    ],
    ids=lambda value: str(getattr(value, "code", value)),
)
def test_a_failure_of_every_target_is_an_error_of_the_dialect(
    run: Any, gateway: Any, answer: Answer, status: int, code: str, stream: bool
) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=answer) as a, gateway(a, retry={"max_attempts": 1}) as gw:
            return await ask(gw.base_url, responses_request("chat", stream=stream))

    reply = run(scenario())

    assert (reply.status, reply.json()["error"]["code"]) == (status, code)
    assert list(reply.json()["error"]) == ["message", "type", "param", "code"]


@pytest.mark.bug("B-15")
@pytest.mark.parametrize("code", ["invalid_prompt", "invalid_image_url", "image_too_large"])
def test_a_failed_response_that_is_the_callers_to_mend_goes_to_no_other_target(
    run: Any, gateway: Any, code: str
) -> None:
    failed = responses.response([], status="failed", error={"code": code, "message": "mend it"})

    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a", default=Json(200, failed)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b) as gw:
                return await ask(gw.base_url, responses_request("chat")), len(b.log)

    reply, calls_of_b = run(scenario())

    assert (reply.status, reply.json()["error"]["code"], calls_of_b) == (400, code, 0)


def test_a_mistake_is_an_error_of_the_dialect(world: World) -> None:
    reply = world.exchange(post(PATH, json.dumps({"model": "chta", "input": "hi"}).encode()))

    assert (reply.status, reply.json()["error"]["code"]) == (404, "model_not_found")
