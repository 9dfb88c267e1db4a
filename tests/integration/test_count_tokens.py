"""Counting tokens: asked of the provider that would answer, else estimated, and never a trace in routing."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing import Answer, CloseEarly, FakeProvider, Hang, Json, Status, messages
from pointsman.testing.wire import Reply, Wire, messages_request
from tests.integration.callers import ask, ask_all
from tests.integration.harness import eventually
from tests.integration.world import World

PATH = "/v1/messages/count_tokens"
COUNT = messages_request("chat", path=PATH)
CLAUDE = {"a": {"kind": "anthropic", "api_key": "sk-ours"}}
SHORT = {"base": "300ms", "max": "300ms"}
FAILURES: dict[str, Answer] = {
    "no_such_path": Status(404),
    "not_implemented": Status(501),
    "broken": Status(500),
    "rate_limited": Status(429),
    "key_refused": Status(401),
    "closed": CloseEarly(),
    "no_count": Json(200, {"tokens": 5}),
    "negative": Json(200, {"input_tokens": -5}),
    "no_json": Status(200, body=b"<html>"),
}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(provider_fields=CLAUDE) as world:
        yield world


@pytest.mark.parametrize("path", ["/messages/count_tokens", PATH, "/v1/v1/messages/count_tokens", f"{PATH}?beta=true"])
def test_provider_that_counts_is_asked(world: World, path: str) -> None:
    world.a.count_answer = Json(200, {"input_tokens": 4711, "context_management": {}})

    reply = world.exchange(messages_request("chat", path=path, headers=(("anthropic-version", "2026-10-21"),)))

    received = world.a.log[-1]
    assert (reply.status, reply.json()) == (200, {"input_tokens": 4711, "context_management": {}})
    assert (received.path, received.json()["model"]) == ("/v1/messages/count_tokens", "m-a")
    assert (received.header("x-api-key"), received.header("anthropic-version")) == (b"sk-ours", b"2026-10-21")
    assert (reply.header("x-pointsman-target"), reply.header("x-pointsman-reason")) == (b"a/m-a", None)


@pytest.mark.parametrize("answer", FAILURES.values(), ids=FAILURES)
def test_count_that_fails_is_estimated(world: World, answer: Answer) -> None:
    world.a.count_answer = answer

    reply = world.exchange(COUNT)

    assert (reply.status, reply.header("x-pointsman-reason")) == (200, b"estimated")
    assert 1 <= reply.json()["input_tokens"] <= 30


def test_provider_that_never_answers_is_given_up_soon(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=CLAUDE) as gw:
            a.count_answer = Hang()
            async with await Wire.open(gw.base_url) as wire:
                wire.send(COUNT)
                return await wire.reply(patience_s=5.0)

    assert run(scenario()).header("x-pointsman-reason") == b"estimated"


def test_provider_that_does_not_count_is_not_asked(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, int]:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields={"a": {"kind": "ollama"}}) as gw:
            return await ask(gw.base_url, COUNT), len(a.log)

    reply, calls = run(scenario())

    assert (reply.status, calls) == (200, 0)


def test_group_that_nobody_can_be_asked_of_is_still_estimated(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields={"a": {"dialects": ["openai_chat"]}}) as gw:
            return await ask(gw.base_url, COUNT)

    assert run(scenario()).header("x-pointsman-reason") == b"estimated"


def test_target_that_is_paused_or_on_trial_is_not_asked(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[Reply], int]:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=CLAUDE, cooldown=SHORT) as gw:
            a.script(*[Status(500)] * 3)
            await ask_all(gw.base_url, [messages_request("chat")] * 2, concurrency=1)
            counts = [await ask(gw.base_url, COUNT)]
            await eventually(lambda: gw.breaker("a/m-a") == 0.5)
            counts.append(await ask(gw.base_url, COUNT))
            return counts, sum(received.path == PATH for received in a.log)

    counts, asked = run(scenario())

    assert [reply.header("x-pointsman-reason") for reply in counts] == [b"estimated"] * 2
    assert asked == 0


@pytest.mark.bug("B-12")
def test_what_is_wrong_with_the_request_is_said_by_the_provider(world: World) -> None:
    world.a.count_answer = Status(400, "messages: required")

    reply = world.exchange(COUNT)

    assert (reply.status, reply.json()["error"]) == (
        400,
        {"type": "invalid_request_error", "message": "messages: required"},
    )


@pytest.mark.parametrize(
    ("request_bytes", "status", "type_"),
    [
        (messages_request("chta", path=PATH), 404, "not_found_error"),
        (messages_request("", path=PATH), 400, "invalid_request_error"),
        (messages_request("chat", path=PATH, headers=(("content-encoding", "br"),)), 415, "invalid_request_error"),
        (b"GET /v1/messages/count_tokens HTTP/1.1\r\nhost: test\r\n\r\n", 405, "invalid_request_error"),
    ],
)
def test_a_mistake_is_an_error_of_the_dialect(world: World, request_bytes: bytes, status: int, type_: str) -> None:
    reply = world.exchange(request_bytes)

    assert (reply.status, reply.json()["error"]["type"]) == (status, type_)
    assert reply.json()["request_id"].encode() == reply.header("request-id")


def test_counts_leave_no_record_no_pause_and_no_turn(run: Any, gateway: Any) -> None:
    groups = {"chat": {"strategy": "round_robin", "targets": [{"model": "a/m"}, {"model": "b/m"}]}}

    async def scenario() -> tuple[list[dict[str, Any]], int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, gateway(a, b, groups=groups) as gw:
            a.count_answer = b.count_answer = Status(500)
            await ask_all(gw.base_url, [COUNT] * 5, concurrency=1)
            assert gw.breaker("a/m") == gw.breaker("b/m") == 0
            await ask_all(gw.base_url, [messages_request("chat")], concurrency=1)
            return await gw.records(), len(a.log) + len(b.log)

    records, calls = run(scenario())

    assert calls == 6
    assert [record["attempts"][0]["target_id"] for record in records] == ["a/m"]


@pytest.mark.bug("F-01")
def test_caller_that_leaves_ends_the_call(run: Any, gateway: Any) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=CLAUDE) as gw:
            a.count_answer = Hang()
            async with await Wire.open(gw.base_url) as wire:
                wire.send(COUNT)
                await a.until(lambda: len(a.log) == 1)
            await eventually(lambda: a.log[0].closed_at is not None)

    run(scenario())


def test_stop_of_the_gateway_is_said_as_an_overload(run: Any, gateway: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider(name="a") as a, gateway(a, provider_fields=CLAUDE, server={"drain": "10ms"}) as gw:
            a.count_answer = Hang()
            async with await Wire.open(gw.base_url) as wire:
                wire.send(COUNT)
                await a.until(lambda: len(a.log) == 1)
                stopping = asyncio.create_task(gw.stop_now())
                reply = await wire.reply()
                await stopping
                return reply

    reply = run(scenario())

    assert (reply.status, reply.json()["error"]["type"]) == (529, "overloaded_error")


def test_fake_provider_counts_by_itself(run: Any) -> None:
    async def scenario() -> Reply:
        async with FakeProvider() as a:
            return await ask(a.base_url, COUNT)

    assert run(scenario()).json()["input_tokens"] > 0
    assert messages.error(501)["error"]["type"] == "api_error"
