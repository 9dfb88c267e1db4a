"""The real Anthropic SDK, its newest release and one of 0.x, each in an environment of its own, against a gateway."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pointsman.app import new_loop
from pointsman.domain.outcome import Usage
from pointsman.testing import Answer, Chat, FakeProvider, Json, Status, ToolCall, messages, stream_of
from tests.e2e.sdk import ANTHROPIC, told
from tests.integration.callers import MESSAGES
from tests.integration.harness import run_gateway

GROUPS = {
    "chat": {"strategy": "failover", "aliases": ["claude-x"], "targets": [{"model": "a/m"}, {"model": "b/m"}]},
    "alone": {"on_all_unavailable": "refuse", "targets": [{"model": "a/m"}]},
}
CLAUDE = {name: {"kind": "anthropic", "api_key": f"sk-{name}"} for name in "ab"}
VERSIONS = {"0": b"2023-06-01", "2": b"2026-10-21"}

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("client", ANTHROPIC)]


def call(client: str, name: str, tmp_path: Path, *, a: Sequence[Answer], model: str = "chat") -> dict[str, Any]:
    """What the SDK saw of one call, and under `asked` what reached the providers a and b."""

    async def scene() -> dict[str, Any]:
        async with (
            FakeProvider(name="a") as first,
            FakeProvider(name="b", default=Chat("served by b")) as second,
            run_gateway(tmp_path, first, second, groups=GROUPS, provider_fields=CLAUDE) as gateway,
        ):
            first.script(*a)
            first.count_answer = Json(200, {"input_tokens": 4711})
            seen = await asyncio.to_thread(told, client, gateway.base_url, model, name)
            return {**seen, "asked": (*first.log, *second.log)}

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scene())


def test_each_client_is_the_release_it_claims_to_be(client: str, tmp_path: Path) -> None:
    seen = call(client, "models", tmp_path, a=())

    assert seen["version"].startswith(f"{client}.")


def test_a_unary_call_gets_its_answer_and_knows_who_served(client: str, tmp_path: Path) -> None:
    counted = Usage(input_tokens=100, output_tokens=3, cached_tokens=80, cache_write_tokens=15)

    seen = call(client, "unary", tmp_path, a=[Chat("hello there", usage=counted)])

    assert (seen["text"], seen["stop"], seen["target"]) == ("hello there", "end_turn", "a/m")
    assert (seen["input"], seen["cached"], seen["output"]) == (5, 80, 3)
    assert seen["request_id"] == seen["header_id"]


def test_the_version_is_the_clients_and_the_key_is_ours(client: str, tmp_path: Path) -> None:
    (asked,) = call(client, "unary", tmp_path, a=())["asked"]

    assert (asked.header("anthropic-version"), asked.header("x-api-key")) == (VERSIONS[client], b"sk-a")
    assert asked.header("authorization") is None
    assert b"sk-caller" not in b"".join(value for _, value in asked.headers)


@pytest.mark.bug("I-01")
def test_betas_reach_the_provider(client: str, tmp_path: Path) -> None:
    seen = call(client, "beta", tmp_path, a=[Chat("ok")])

    (asked,) = seen["asked"]
    assert seen["text"] == "ok"
    assert asked.header("anthropic-beta") == b"a-2026-01-01,b-2026-02-02"


def test_a_stream_arrives_whole(client: str, tmp_path: Path) -> None:
    seen = call(client, "stream", tmp_path, a=[Chat("one two three", usage=Usage(input_tokens=9, output_tokens=4))])

    assert (seen["text"], seen["pieces"], seen["stop"]) == ("one two three", "one two three", "end_turn")
    assert (seen["input"], seen["output"]) == (9, 4)


@pytest.mark.bug("E-15")
def test_every_event_reaches_the_sdk_also_without_names(client: str, tmp_path: Path) -> None:
    named = [messages.sse(event) for event in (messages.message_start(), *messages.text_events("a b", 0))]
    nameless = b"".join(event[event.index(b"data: ") :] for event in (*named, messages.STOP))

    seen = call(client, "events", tmp_path, a=[_raw_stream(nameless)])

    block = ["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"]
    assert seen["types"] == ["message_start", *block, "message_stop"]


def _raw_stream(body: bytes) -> Answer:
    return Status(200, body=body, content_type="text/event-stream")


@pytest.mark.parametrize("name", ["tools", "streamed_tools"])
@pytest.mark.bug("G-01")
def test_tool_calls_come_back_as_the_model_made_them(client: str, name: str, tmp_path: Path) -> None:
    made = ToolCall("get_weather", '{"city": "Oslo"}', id="t1"), ToolCall("get_time", id="t2")

    seen = call(client, name, tmp_path, a=[Chat("Let me see.", tool_calls=made)])

    assert seen["calls"] == [["get_weather", {"city": "Oslo"}], ["get_time", {}]]
    assert (seen["text"], seen["stop"]) == ("Let me see.", "tool_use")
    assert seen["asked"][0].json()["tools"][0]["name"] == "get_weather"


@pytest.mark.bug("G-09", "G-10")
def test_thinking_comes_before_the_answer_and_apart_from_it(client: str, tmp_path: Path) -> None:
    seen = call(client, "thinking", tmp_path, a=[Chat("42", reasoning="hm hm")])

    assert (seen["types"], seen["thought"], seen["text"]) == (["thinking", "text"], "hm hm", "42")


def test_tokens_are_counted_by_the_provider(client: str, tmp_path: Path) -> None:
    seen = call(client, "count", tmp_path, a=())

    assert seen["tokens"] == 4711
    assert [request.path for request in seen["asked"]] == ["/v1/messages/count_tokens"]


def test_models_are_listed_page_by_page_and_retrieved(client: str, tmp_path: Path) -> None:
    seen = call(client, "models", tmp_path, a=())

    assert (seen["ids"], seen["one"]) == (["alone", "chat", "claude-x"], "chat")


@pytest.mark.bug("A-09")
@pytest.mark.parametrize(
    "answer",
    [Status(529), Status(500), stream_of(then="cut", dialect=MESSAGES), Json(200, messages.error(529))],
    ids=["529", "500", "cut", "in_band"],
)
@pytest.mark.parametrize("name", ["unary", "stream"])
def test_a_failover_is_invisible_to_the_caller(client: str, name: str, answer: Answer, tmp_path: Path) -> None:
    seen = call(client, name, tmp_path, a=[answer])

    assert (seen["text"], len(seen["asked"])) == ("served by b", 2)


@pytest.mark.bug("E-04")
@pytest.mark.parametrize(
    ("answer", "type_"),
    [
        (stream_of("one", then="cut", dialect=MESSAGES), "api_error"),
        (stream_of("one", then="end", dialect=MESSAGES), "api_error"),
    ],
    ids=["cut", "no_terminator"],
)
def test_a_stream_that_dies_raises_the_dialects_own_error(
    client: str, answer: Answer, type_: str, tmp_path: Path
) -> None:
    seen = call(client, "error_in_a_stream", tmp_path, a=[answer])

    assert (seen["status"], seen["body"]["error"]["type"]) == (200, type_)
    assert len(seen["asked"]) == 1


@pytest.mark.parametrize(
    ("answers", "model", "kind", "status"),
    [
        ([Status(400, "max_tokens: required")], "chat", "BadRequestError", 400),
        ([Status(413, "too big")], "chat", {"0": "RequestTooLargeError", "2": "ContentTooLargeError"}, 413),
        ((), "chta", "NotFoundError", 404),
        ([Status(429)], "alone", "RateLimitError", 429),
        ([Status(401)], "alone", "InternalServerError", 502),
    ],
    ids=["400", "413", "404", "429", "502"],
)
def test_an_error_has_the_class_of_its_status(
    client: str, answers: Sequence[Answer], model: str, kind: Any, status: int, tmp_path: Path
) -> None:
    seen = call(client, "error", tmp_path, a=answers, model=model)

    assert (seen["kind"], seen["status"]) == (kind if isinstance(kind, str) else kind[client], status)
    assert seen["body"]["type"] == "error"
    assert seen["body"]["request_id"] == seen["request_id"]


@pytest.mark.parametrize("status", [400, 413])
def test_what_will_not_heal_is_not_retried(client: str, status: int, tmp_path: Path) -> None:
    seen = call(client, "retried", tmp_path, a=[Status(status)] * 3)

    assert (seen["status"], len(seen["asked"])) == (status, 1)


def test_paused_targets_are_an_overload_that_may_be_retried(client: str, tmp_path: Path) -> None:
    seen = call(client, "retried", tmp_path, a=[Status(500)] * 3, model="alone")  # the third fault in a row pauses

    assert (seen["kind"], seen["status"]) == ("OverloadedError", 529)
    assert seen["body"]["error"]["type"] == "overloaded_error"
    assert len(seen["asked"]) == 3
