"""OpenAI's legacy completions end to end: the machinery is that of chat, so only what is their own is shown."""

from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, Events, FakeProvider, Json, Status, chat, plain, stream_of
from pointsman.testing.wire import completions_request
from tests.integration.callers import DONE, ask, events, tally, text_of
from tests.integration.world import World

COMPLETIONS = Dialect.OPENAI_COMPLETIONS
EMPTY = plain.completion("")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(provider_fields={"a": {"kind": "openai", "api_key": "sk-ours"}}) as world:
        yield world


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])
@pytest.mark.parametrize("path", ["/completions", "/v1/completions", "/v1/v1/completions"])
def test_a_completion_is_served_on_every_form_of_its_path(world: World, path: str, stream: bool) -> None:
    reply = world.exchange(completions_request("chat", path=path, stream=stream), Chat("one two"))

    assert (reply.status, text_of(reply), world.a.log[-1].path) == (200, "one two", "/v1/completions")


@pytest.mark.bug("E-08")
@pytest.mark.parametrize("asked", [False, True])
def test_usage_of_a_stream_reaches_those_who_asked_for_it(world: World, asked: bool) -> None:
    reply = world.exchange(
        completions_request("chat", stream=True, stream_options={"include_usage": asked}), Chat("one two")
    )

    assert world.a.log[-1].json()["stream_options"] == {"include_usage": True}
    assert any(event.get("usage") for event in events(reply)) is asked
    assert reply.body.endswith(DONE)


@pytest.mark.bug("A-01", "E-05", "E-06", "B-16")
@pytest.mark.parametrize(
    ("answer", "stream"),
    [
        (Status(500), False),
        (Json(200, {"choices": []}), False),
        (Json(200, {"error": {"code": 502, "message": "down"}}), False),
        (Status(500), True),
        (stream_of(then="cut", dialect=COMPLETIONS), True),
        (Events((EMPTY, chat.error(500, "down"))), True),
        (Events((EMPTY,), then="end"), True),
        (Events(()), True),
    ],
)
def test_a_failure_before_the_first_text_is_never_seen(run: Any, gateway: Any, answer: Answer, stream: bool) -> None:
    async def scenario() -> Any:
        async with FakeProvider(name="a", default=answer) as a, FakeProvider(name="b", default=Chat("from b")) as b:
            async with gateway(a, b) as gw:
                return await ask(gw.base_url, completions_request("chat", stream=stream)), len(a.log)

    reply, calls_of_a = run(scenario())

    assert (tally([reply]), calls_of_a) == ({(200, "from b"): 1}, 1)


@pytest.mark.bug("E-04")
@pytest.mark.parametrize("then", ["cut", "reset", "end"])
def test_a_stream_that_dies_after_text_ends_honestly(world: World, then: Any) -> None:
    beginning = stream_of("one ", "two", then="cut", dialect=COMPLETIONS).events

    reply = world.exchange(completions_request("chat", stream=True), Events(beginning, then=then))

    *said, error = events(reply)
    assert (text_of(reply), error["error"]["code"]) == ("one two", "upstream_error")
    assert not any(choice["finish_reason"] for event in said for choice in event["choices"])
    assert reply.body.endswith(DONE)
