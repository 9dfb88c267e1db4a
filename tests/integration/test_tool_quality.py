"""Answers to requests with tools are judged when they have left, whatever dialect they came in."""

from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.domain.request import Dialect
from pointsman.testing import Chat
from pointsman.testing.chat import ToolCall
from pointsman.testing.wire import chat_request, messages_request, responses_request
from tests.integration.world import World

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: dict[Dialect, list[Any]] = {
    Dialect.OPENAI_CHAT: [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}],
    Dialect.ANTHROPIC_MESSAGES: [{"name": "weather", "input_schema": SCHEMA}],
    Dialect.OPENAI_RESPONSES: [{"type": "function", "name": "weather", "parameters": SCHEMA}],
}
REQUEST = {
    Dialect.OPENAI_CHAT: chat_request,
    Dialect.ANTHROPIC_MESSAGES: messages_request,
    Dialect.OPENAI_RESPONSES: responses_request,
}
GOOD, BAD = ToolCall("weather", '{"city":"Rome"}'), ToolCall("weather", '{"town":"Rome"}')
GROUPS = {"chat": {"strategy": "market", "targets": [{"model": "a/m-a"}]}}


@pytest.fixture(params=[Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES], ids=str)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Its provider speaks one dialect; requests in another one reach it over a bridge."""
    with World(groups=GROUPS, provider_fields={"a": {"dialects": [str(request.param)]}}) as found:
        yield found


def broken_ratio(world: World) -> float:
    """After a tick."""
    app = world.gateway.app
    app._tool_judge.check(app._clock.now())
    group = app.live.snapshot.groups["chat"]
    return app.board.view(group, app._clock.now() + 1.0).measured[0].broken_ratio


@pytest.mark.req("O-041")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("asked", REQUEST, ids=str)
def test_broken_calls_count_and_sound_ones_too(world: World, asked: Dialect, stream: bool) -> None:
    made = REQUEST[asked]("chat", stream=stream, tools=TOOLS[asked])
    before = broken_ratio(world)

    worse = [world.exchange(made, Chat("", tool_calls=(BAD,))) for _ in range(3)] and broken_ratio(world)
    better = [world.exchange(made, Chat("", tool_calls=(GOOD,))) for _ in range(9)] and broken_ratio(world)

    assert worse == pytest.approx((before * 30 + 3) / 33, rel=0.01)
    assert better == pytest.approx((before * 30 + 3) / 42, rel=0.01)


def test_answers_to_requests_without_tools_are_not_read(world: World) -> None:
    before = broken_ratio(world)

    world.exchange(chat_request("chat"), Chat("", tool_calls=(BAD,)))

    assert broken_ratio(world) == before
