"""OpenAI embeddings end to end: bytes, usage, and that unlike models never stand in for each other."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, CloseEarly, FakeProvider, Json, Status, Truncated, plain
from pointsman.testing.wire import Reply, embeddings_request, post
from tests.integration.callers import ask
from tests.integration.world import World

PATH = "/v1/embeddings"
ONE_MODEL = {"vectors": {"strategy": "failover", "targets": [{"model": "a/bge-m3"}, {"model": "b/bge-m3"}]}}
UNLIKE = {"vectors": {"strategy": "failover", "targets": [{"model": "a/small"}, {"model": "b/large"}]}}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(provider_fields={"a": {"kind": "openai", "api_key": "sk-ours"}}) as world:
        yield world


@pytest.mark.parametrize("path", ["/embeddings", "/v1/embeddings", "/v1/v1/embeddings"])
def test_a_missing_or_doubled_prefix_is_served_all_the_same(world: World, path: str) -> None:
    reply = world.exchange(embeddings_request("chat", path=path))

    assert (reply.status, world.a.log[-1].path) == (200, "/v1/embeddings")
    assert reply.json()["data"][0]["embedding"] == list(plain.VECTOR)


@pytest.mark.bug("D-06")
def test_base64_passes_in_both_directions_byte_for_byte(world: World) -> None:
    body = b'{"input": ["a","\\u00e9"], "model" : "chat","encoding_format":"base64", "dimensions":3.0}'
    said = b'{"object":"list","data":[{"embedding":"AACAPgAAAL8AAIA/","index":0}],"usage":{"prompt_tokens":1e0}}\n'

    reply = world.exchange(post(PATH, body), Status(200, body=said))

    assert world.a.log[-1].body == body.replace(b'"chat"', b'"m-a"')
    assert (reply.status, reply.body) == (200, said)


def test_there_is_a_vector_for_each_input(world: World) -> None:
    reply = world.exchange(embeddings_request("chat", input=["a", "b", "c"], encoding_format="base64"))

    assert [row["index"] for row in reply.json()["data"]] == [0, 1, 2]


def test_a_flag_of_streams_makes_no_stream(world: World) -> None:
    reply = world.exchange(embeddings_request("chat", stream=True))

    assert (reply.status, reply.header("content-type")) == (200, b"application/json")
    assert world.a.log[-1].header("accept") == b"application/json"


@pytest.mark.bug("A-01", "B-11", "B-15", "B-16")
@pytest.mark.parametrize(
    "answer",
    [
        Status(500),
        Status(429),
        CloseEarly(),
        Truncated(),
        Json(200, {"object": "list", "data": []}),
        Json(200, {"error": {"message": "down", "code": 502}}),
        Status(200, body=b"<html>"),
    ],
    ids=repr,
)
def test_a_failure_is_never_seen_where_another_target_has_the_same_model(
    run: Any, gateway: Any, answer: Answer
) -> None:
    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a", default=answer) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=ONE_MODEL) as gw:
                return await ask(gw.base_url, embeddings_request("vectors")), len(a.log)

    reply, calls_of_a = run(scenario())

    assert (reply.status, reply.header("x-pointsman-target"), calls_of_a) == (200, b"b/bge-m3", 1)


@pytest.mark.req("D-060")
def test_an_unlike_model_never_stands_in(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, int, dict[str, Any]]:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=UNLIKE, retry={"max_attempts": 1}) as gw:
                reply = await ask(gw.base_url, embeddings_request("vectors"))
                (record,) = await gw.records()
                return reply, len(b.log), record

    reply, calls_of_b, record = run(scenario())

    assert (reply.status, reply.json()["error"]["code"], calls_of_b) == (502, "upstream_error", 0)
    assert record["decisions"][0]["excluded"] == {"b/large": "embedding_space"}


@pytest.mark.req("D-060")
@pytest.mark.parametrize(
    ("fields", "models"),
    [({"fallbacks": ["unlike", "alike"]}, []), ({}, ["unlike", "alike"])],
    ids=["configured", "named by the request"],
)
def test_fallback_stays_with_the_same_model(run: Any, gateway: Any, fields: dict[str, Any], models: list[str]) -> None:
    groups = {
        "vectors": {"targets": [{"model": "a/bge-m3"}], **fields},
        "unlike": {"targets": [{"model": "b/large"}]},
        "alike": {"targets": [{"model": "b/bge-m3"}]},
    }

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=groups) as gw:
                return await ask(gw.base_url, embeddings_request("vectors", models=models))

    reply = run(scenario())

    assert (reply.status, reply.header("x-pointsman-target")) == (200, b"b/bge-m3")
    assert reply.header("x-pointsman-model") == b"alike"


@pytest.mark.req("C-14")
@pytest.mark.parametrize("provider", [{"order": ["b"]}, {"only": ["b"]}, {"ignore": ["a"]}])
def test_request_is_served_by_whom_it_names(run: Any, gateway: Any, provider: dict[str, Any]) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=ONE_MODEL) as gw:
                return await ask(gw.base_url, embeddings_request("vectors", provider=provider))

    reply = run(scenario())

    assert (reply.status, reply.header("x-pointsman-target")) == (200, b"b/bge-m3")


@pytest.mark.bug("B-09")
def test_many_texts_may_be_longer_than_the_window_together(run: Any, gateway: Any) -> None:
    fields = {"a": {"models": {"m-a": {"context": 512}}}}

    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=fields) as gw:
            return await ask(gw.base_url, embeddings_request("chat", input=["a text of some length"] * 500))

    assert run(scenario()).status == 200


@pytest.mark.bug("H-02")
def test_usage_is_input_only_and_has_a_cost(run: Any, gateway: Any) -> None:
    fields = {"a": {"models": {"m-a": {"price": {"input": 0.02, "output": 0}}}}}

    async def scenario() -> tuple[Reply, dict[str, Any]]:
        async with FakeProvider(name="a", default=Chat(usage=Usage(input_tokens=1000))) as a:
            async with gateway(a, provider_fields=fields) as gw:
                reply = await ask(gw.base_url, embeddings_request("chat"))
                (record,) = await gw.records()
                return reply, record

    reply, record = run(scenario())

    assert (record["usage"]["input_tokens"], record["usage"]["output_tokens"]) == (1000, 0)
    assert record["cost_usd"] == pytest.approx(0.00002)
    assert float(reply.header("x-pointsman-cost") or 0) == pytest.approx(0.00002)


def test_an_unknown_model_is_an_error_of_the_dialect(world: World) -> None:
    reply = world.exchange(post(PATH, json.dumps({"model": "chta", "input": "hi"}).encode()))

    assert (reply.status, reply.json()["error"]["code"]) == (404, "model_not_found")
