"""The usage of a stream is always asked for and recorded, and shown to those who asked."""

from typing import Any

import pytest

from pointsman.domain.outcome import Usage
from pointsman.testing import Events, FakeProvider, chat, stream_of
from pointsman.testing.wire import Reply, chat_request
from tests.integration.callers import DONE, ask, events

USAGE = chat.usage(Usage(input_tokens=11, output_tokens=3), to=chat.NOTHING_SPECIAL, text="")
WITHOUT_CHOICES = {key: value for key, value in chat.usage_chunk(USAGE).items() if key != "choices"}
USAGE_SHAPES = {
    "empty": chat.usage_chunk(USAGE),
    "absent": WITHOUT_CHOICES,
    "null": WITHOUT_CHOICES | {"choices": None},
}
ASKED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "false": {"stream_options": {"include_usage": False}},
    "true": {"stream_options": {"include_usage": True, "include_obfuscation": False}},
}


@pytest.mark.bug("E-07", "E-08")
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("shape", USAGE_SHAPES.values(), ids=USAGE_SHAPES)
def test_usage_is_always_asked_for_recorded_and_shown_only_on_request(
    run: Any, gateway: Any, shape: dict[str, Any], asked: dict[str, Any]
) -> None:
    answer = Events((*stream_of("hi").events, shape))

    async def scenario() -> tuple[Reply, dict[str, Any], dict[str, Any]]:
        async with FakeProvider(name="a", default=answer) as a, gateway(a) as gw:
            reply = await ask(gw.base_url, chat_request("chat", stream=True, **asked))
            (record,) = await gw.records()
            return reply, a.log[0].json(), record

    reply, sent, record = run(scenario())

    assert sent["stream_options"] == asked.get("stream_options", {}) | {"include_usage": True}
    wants_usage = asked == ASKED["true"]
    assert [event["usage"] for event in events(reply) if event.get("usage")] == ([USAGE] if wants_usage else [])
    assert reply.body.endswith(DONE)
    assert (record["usage"]["input_tokens"], record["usage"]["output_tokens"]) == (11, 3)


@pytest.mark.bug("E-08")
def test_a_unary_request_is_not_asked_for_stream_options(run: Any, gateway: Any) -> None:
    async def scenario() -> dict[str, Any]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, chat_request("chat"))
            sent: dict[str, Any] = a.log[0].json()
            return sent

    assert "stream_options" not in run(scenario())
