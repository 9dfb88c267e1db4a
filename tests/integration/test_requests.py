"""Mistakes that a newcomer makes, as HTTP shows them: the right status, a code, and a sentence that helps."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from pointsman.testing import FakeProvider
from pointsman.testing.wire import Reply, chat_request, post
from tests.integration.callers import ask
from tests.integration.world import World

REQUEST_ID = (("x-request-id", "mine-1"),)
PATH = "/v1/chat/completions"
HELLO = {"messages": [{"role": "user", "content": "hi"}]}


class Mistake(Struct, frozen=True):
    """A request, and how it must be answered."""

    request: bytes
    status: int
    code: str
    says: str
    type: str = "invalid_request_error"
    param: str | None = None


def body(**fields: object) -> bytes:
    return msgspec.json.encode({**HELLO, **fields})


def sent(raw: bytes, path: str = PATH, *headers: tuple[str, str]) -> bytes:
    return post(path, raw, (*REQUEST_ID, *headers))


def get(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nhost: test\r\nx-request-id: mine-1\r\n\r\n".encode()


GZIP, BROTLI = ("content-encoding", "gzip"), ("content-encoding", "br")
MISTAKES = {
    "bad_json": Mistake(sent(b'{"model": "chat",'), 400, "invalid_request", "not valid JSON"),
    "no_body": Mistake(sent(b""), 400, "invalid_request", "JSON"),
    "not_an_object": Mistake(sent(b"[]"), 400, "invalid_request", "must be a JSON object"),
    "not_utf_8": Mistake(sent(b'{"model": "\xff"}'), 400, "invalid_request", "UTF-8"),
    "no_model": Mistake(sent(body()), 400, "invalid_request", "Name a model", param="model"),
    "model_of_a_wrong_type": Mistake(sent(body(model=3)), 400, "invalid_request", "'model'", param="model"),
    "stream_of_a_wrong_type": Mistake(
        sent(body(model="chat", stream="yes")), 400, "invalid_request", "'stream'", param="stream"
    ),
    "two_models": Mistake(
        sent(b'{"model": "chat", "model": "other"}'), 400, "invalid_request", "more than once", param="model"
    ),
    "misspelt_model": Mistake(sent(body(model="chta")), 404, "model_not_found", "'chat'", param="model"),
    "unknown_model": Mistake(sent(body(model="zzzzzz")), 404, "model_not_found", "/v1/models", param="model"),
    "unknown_model_by_get": Mistake(get("/v1/models/chta"), 404, "model_not_found", "'chat'", param="model"),
    "wrong_path": Mistake(sent(body(model="chat"), "/v1/chat"), 404, "not_found", "/v1/chat/completions"),
    "wrong_method": Mistake(get(PATH), 405, "method_not_allowed", "POST"),
    "delete_of_models": Mistake(get("/v1/models", "DELETE"), 405, "method_not_allowed", "GET"),
    "too_large": Mistake(sent(body(model="chat", pad="x" * 4096)), 413, "request_too_large", "4096 bytes"),
    "brotli": Mistake(
        sent(body(model="chat"), PATH, BROTLI), 415, "unsupported_encoding", "gzip or deflate, not as 'br'"
    ),
    "not_gzip": Mistake(sent(body(model="chat"), PATH, GZIP), 400, "invalid_request", "not valid gzip"),
    "half_of_gzip": Mistake(sent(gzip.compress(body())[:-9], PATH, GZIP), 400, "invalid_request", "ends too early"),
    "bomb": Mistake(sent(gzip.compress(body(pad="x" * 4096)), PATH, GZIP), 413, "request_too_large", "4096 bytes"),
}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(server={"limits": {"body": 4096}}) as world:
        yield world


@pytest.fixture
def answer(world: World) -> Callable[[bytes], Reply]:
    """The reply to one request, which must not reach the provider."""

    def of(request: bytes) -> Reply:
        already = len(world.a.log)
        reply = world.exchange(request)
        assert len(world.a.log) == already
        return reply

    return of


@pytest.mark.bug("B-11", "B-18")
@pytest.mark.case("T59", "T61")
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_its_status_its_code_and_a_sentence_that_helps(answer: Any, mistake: Mistake) -> None:
    reply = answer(mistake.request)

    error = reply.json()["error"]
    found = (reply.status, error["code"], error["type"], error["param"])
    assert found == (mistake.status, mistake.code, mistake.type, mistake.param)
    assert mistake.says in error["message"]


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_every_error_says_not_to_retry_echoes_the_id_and_is_json(answer: Any, mistake: Mistake) -> None:
    reply = answer(mistake.request)

    wanted = {"content-type": b"application/json", "x-should-retry": b"false", "x-request-id": b"mine-1"}
    assert {name: reply.header(name) for name in wanted} == wanted


@pytest.mark.case("T64")
@pytest.mark.parametrize(
    ("request_bytes", "allowed"), [(get(PATH), b"POST"), (get("/v1/models", "DELETE"), b"GET, HEAD")]
)
def test_a_wrong_method_is_told_which_ones_are_right(answer: Any, request_bytes: bytes, allowed: bytes) -> None:
    reply = answer(request_bytes)

    assert reply.header("allow") == allowed


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/v1/chat/completions", "/v1/chat/completions?x=1"])
def test_a_missing_or_doubled_prefix_is_served_all_the_same(world: World, path: str) -> None:
    reply = world.exchange(chat_request("chat", path=path))

    assert reply.status == 200


@pytest.mark.case("I18")
@pytest.mark.parametrize("path", [PATH, "/v1/messages", "/v1/messages/count_tokens"])
def test_a_compressed_body_reaches_the_provider_as_the_plain_one_does(world: World, path: str) -> None:
    raw, already = body(model="chat", max_tokens=9), len(world.a.log)

    statuses = [
        world.exchange(post(path, raw)).status,
        world.exchange(post(path, gzip.compress(raw), (GZIP,))).status,
        world.exchange(post(path, zlib.compress(raw), (("content-encoding", "deflate"),))).status,
    ]

    asked = world.a.log[already:]
    assert statuses == [200] * 3
    assert len({request.body for request in asked}) <= 1
    assert all(request.header("content-encoding") is None for request in asked)


@pytest.mark.case("I4")
def test_a_refused_request_leaves_a_record_and_calls_nobody(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, chat_request("chta"))
            records: list[dict[str, Any]] = await gw.records()
            return records

    (record,) = run(scenario())

    assert (record["status"], record["reason"], record["attempts"]) == (404, "model_not_found", [])


def test_an_unusable_request_id_is_replaced(world: World) -> None:
    reply = world.exchange(chat_request("chat", headers=(("x-request-id", "a b<c>"),)))

    assert (reply.header("x-request-id") or b"").startswith(b"req_")
