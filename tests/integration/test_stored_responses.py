"""What a provider keeps: requests that build on it go there, and so do those about it."""

from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing import Answer, CloseEarly, Events, FakeProvider, Json, Status, keys, responses
from pointsman.testing.wire import Reply, Wire, responses_request
from tests.integration.callers import ask, ask_all
from tests.integration.world import World

STORED = responses.response([responses.message_item("hi")]) | {"id": "resp_1", "store": True}
SEALED = responses.reasoning_item("hm") | {"encrypted_content": "gAAAAAB=="}
ROUND_ROBIN = {"chat": {"strategy": "round_robin", "targets": [{"model": "a/m"}, {"model": "b/m"}]}}


def about(path: str, method: str = "GET", *headers: str) -> bytes:
    lines = [f"{method} /v1/responses/{path} HTTP/1.1", "host: test", "content-length: 0", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """With one response that is stored."""
    with World(provider_fields={"a": {"kind": "openai", "api_key": "sk-ours"}}) as world:
        world.exchange(responses_request("chat"), Json(200, STORED))
        yield world


# --- requests that build on it

STREAM = Events((*responses.created(), responses.text_delta("hi"), responses.ended(STORED)), then="end")
CONVERSING = STORED | {"conversation": {"id": "conv_1"}, "store": False}
THINKING = responses.response([SEALED]) | {"store": False}


@pytest.mark.bug("D-03")
@pytest.mark.parametrize(
    ("stream", "answer", "builds_on"),
    [
        (False, Json(200, STORED), {"previous_response_id": "resp_1"}),
        (True, STREAM, {"previous_response_id": "resp_1"}),
        (False, Json(200, CONVERSING), {"conversation": "conv_1"}),
        (False, Json(200, THINKING), {"input": [{"role": "user", "content": "hi"}, SEALED], "store": False}),
    ],
    ids=["response", "streamed response", "conversation", "sealed reasoning"],
)
def test_what_builds_on_an_answer_goes_to_the_target_that_gave_it(
    run: Any, gateway: Any, stream: bool, answer: Answer, builds_on: dict[str, Any]
) -> None:
    async def scenario() -> tuple[list[Reply], list[dict[str, Any]]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=ROUND_ROBIN) as gw:
                a.script(answer)
                requests = [responses_request("chat", stream=stream), *[responses_request("chat", **builds_on)] * 4]
                replies = await ask_all(gw.base_url, [*requests, responses_request("chat")], concurrency=1)
                return replies, await gw.records()

    replies, records = run(scenario())

    assert [reply.header("x-pointsman-target") for reply in replies] == [b"a/m"] * 5 + [b"b/m"]
    assert records[1]["decisions"][0]["excluded"] == {"b/m": "state_elsewhere"}


@pytest.mark.bug("D-03")
def test_what_builds_on_an_answer_never_fails_over(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, int, int]:
        async with FakeProvider(name="a", default=Status(429, retry_after=30)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=ROUND_ROBIN) as gw:
                a.script(Json(200, STORED))
                await ask(gw.base_url, responses_request("chat"))
                bound = responses_request("chat", previous_response_id="resp_1")
                return await ask(gw.base_url, bound), len(a.log), len(b.log)

    reply, _, calls_of_b = run(scenario())

    assert (reply.status, reply.json()["error"]["code"]) == (429, "upstream_rate_limited")
    assert int(reply.header("retry-after") or 0) > 0
    assert calls_of_b == 0


def test_group_without_the_target_says_that_the_state_is_elsewhere(run: Any, gateway: Any) -> None:
    groups = {"chat": {"targets": [{"model": "a/m"}]}, "other": {"targets": [{"model": "b/m"}]}}

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Json(200, STORED)) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=groups) as gw:
                await ask(gw.base_url, responses_request("chat"))
                return await ask(gw.base_url, responses_request("other", previous_response_id="resp_1"))

    reply = run(scenario())

    assert (reply.status, reply.json()["error"]["code"]) == (400, "no_eligible_target")
    assert "b/m: another target keeps what the request builds on" in reply.json()["error"]["message"]


# --- requests about it


@pytest.mark.parametrize(
    ("path", "method", "sent"),
    [
        ("resp_1", "GET", "GET /v1/responses/resp_1"),
        ("resp_1?include=usage", "GET", "GET /v1/responses/resp_1?include=usage"),
        ("resp_1/input_items?limit=5", "GET", "GET /v1/responses/resp_1/input_items?limit=5"),
        ("resp_1/cancel", "POST", "POST /v1/responses/resp_1/cancel"),
    ],
)
def test_request_about_a_response_goes_to_who_keeps_it_and_its_answer_comes_as_it_was(
    world: World, path: str, method: str, sent: str
) -> None:
    reply = world.exchange(about(path, method), Status(200, body=b'{"any" : 1e0}'))

    received = world.a.log[-1]
    assert (reply.status, reply.body, f"{received.method} {received.path}") == (200, b'{"any" : 1e0}', sent)
    assert received.header("authorization") == b"Bearer sk-ours"
    assert reply.header("x-pointsman-model") == b"chat"


@pytest.mark.bug("I-03")
def test_provider_gets_nothing_of_the_callers_head(world: World) -> None:
    world.exchange(about("resp_1", "GET", "authorization: Bearer callers-own", "cookie: c=1"), Json(200, STORED))

    names = {name.decode() for name, _ in world.a.log[-1].headers}
    assert names == {"host", "accept", "accept-encoding", "authorization"}


@pytest.mark.bug("N-05")
@pytest.mark.parametrize("path", ["resp_2", "resp_2/cancel", "resp_2/input_items"])
def test_response_that_nobody_knows_is_not_asked_for_anywhere(world: World, path: str) -> None:
    already = len(world.a.log)

    reply = world.exchange(about(path, "POST" if path.endswith("cancel") else "GET"))

    assert (reply.status, reply.json()["error"]["code"]) == (404, "not_found")
    assert "'resp_2'" in reply.json()["error"]["message"]
    assert len(world.a.log) == already


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("", "GET", 404),
        ("resp_1/", "GET", 404),
        ("resp_1/what", "GET", 404),
        ("resp_1/../resp_1", "GET", 404),
        ("resp%201", "GET", 404),
        ("resp_1", "POST", 404),
        ("resp_1/cancel", "GET", 404),
        ("resp_1", "PUT", 405),
        ("resp_1?stream=true", "GET", 501),
    ],
)
def test_anything_else_is_a_typed_error(world: World, path: str, method: str, status: int) -> None:
    already = len(world.a.log)

    reply = world.exchange(about(path, method))

    assert (reply.status, list(reply.json()["error"])) == (status, ["message", "type", "param", "code"])
    assert len(world.a.log) == already


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (Status(404, {"message": "expired", "code": "gone"}), 404, "gone"),
        (Status(400, {"message": "not in the background", "code": "x"}), 400, "x"),
        (Status(500), 502, "upstream_error"),
        (Status(401), 502, "upstream_misconfigured"),
        (Status(429), 429, "upstream_rate_limited"),
        (CloseEarly(), 502, "upstream_error"),
    ],
    ids=lambda value: str(getattr(value, "code", value)),
)
def test_failure_of_the_provider_is_an_error_of_the_dialect(
    world: World, answer: Answer, status: int, code: str
) -> None:
    reply = world.exchange(about("resp_1"), answer)

    assert (reply.status, reply.json()["error"]["code"]) == (status, code)


def test_response_in_the_background_is_found_by_the_caller_that_left_its_stream(run: Any, gateway: Any) -> None:
    begun = STORED | {"background": True, "status": "in_progress"}
    said = Events(({"type": "response.created", "response": begun}, responses.text_delta("h")), then="stall")

    async def scenario() -> Reply:
        async with FakeProvider(name="a", default=Json(200, STORED)) as a, gateway(a) as gw:
            a.script(said)
            async with await Wire.open(gw.base_url) as wire:
                wire.send(responses_request("chat", stream=True, background=True))
                await wire.received_bytes(1)
            await gw.quiet()
            return await ask(gw.base_url, about("resp_1"))

    reply = run(scenario())

    assert (reply.status, reply.json()) == (200, STORED)


def test_deleted_response_is_gone(run: Any, gateway: Any) -> None:
    deleted = {"id": "resp_1", "object": "response", "deleted": True}

    async def scenario() -> tuple[list[Reply], int]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            a.script(Json(200, STORED), Json(200, deleted))
            requests = [responses_request("chat"), about("resp_1", "DELETE"), about("resp_1")]
            return await ask_all(gw.base_url, requests, concurrency=1), len(a.log)

    (_, gone, after), calls = run(scenario())

    assert (gone.status, gone.json(), after.status, calls) == (200, deleted, 404, 2)


@pytest.mark.bug("N-05")
def test_nobody_reaches_what_another_key_has_stored(run: Any, gateway: Any) -> None:
    auth = keys.section(keys.declaration("pm_one", name="one"), keys.declaration("pm_two", name="two"))

    async def scenario() -> tuple[list[int], int]:
        async with FakeProvider(name="a", default=Json(200, STORED)) as a, gateway(a, auth=auth) as gw:
            await ask(gw.base_url, responses_request("chat", headers=(("authorization", "Bearer pm_one"),)))
            heads = ["authorization: Bearer pm_two"], ["authorization: Bearer pm_one"], []
            replies = [await ask(gw.base_url, about("resp_1", "GET", *head)) for head in heads]
            return [reply.status for reply in replies], len(a.log)

    statuses, calls = run(scenario())

    assert (statuses, calls) == ([404, 200, 401], 2)
