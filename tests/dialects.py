"""What reaches a caller of each dialect from a target of each dialect, found by asking: `make dialects`.

Every case goes through a whole gateway, over real sockets, to a fake provider that speaks the one dialect only.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from pointsman.dialects.bridges.bridge import SIDES
from pointsman.dialects.bridges.events import CallBegun, CallDelta, Event, Failed, Finished
from pointsman.dialects.bridges.neutral import Answer as Whole
from pointsman.dialects.bridges.neutral import Call, Finish, Refusal, Text, Thinking, ended
from pointsman.dialects.sse import SseDecoder
from pointsman.domain.request import Dialect
from pointsman.testing import Answer, Chat, Events, Status, ToolCall, Truncated, stream_of
from pointsman.testing.wire import Reply
from tests.integration.callers import CHAT, MESSAGES, REQUEST, RESPONSES
from tests.integration.world import World

Fields = Mapping[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUg"
SAID_IN = {CHAT: "messages", MESSAGES: "messages", RESPONSES: "input"}  # the field with the conversation
OSLO, NAMES = '{"city":"Oslo"}', '"required":["city"]'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NOTHING: Fields = MappingProxyType({})
GREEN = "ok"


class Seen(Struct):
    """What a caller makes of an answer."""

    status: int
    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str, str]] = []  # name and arguments
    finish: str | None = None
    error: bool = False


class Case(Struct):
    """One row: what is asked, what is answered, and what has to be seen. `sent`: part of what the target must get."""

    name: str
    answer: Callable[[Dialect, bool], Answer]  # of the target's dialect, to a stream or not
    is_right: Callable[[Seen], bool]
    fields: Mapping[Dialect, Fields] = MappingProxyType({})
    sent: str = ""


def said(text: str = "hello", **fields: Any) -> Callable[[Dialect, bool], Answer]:
    return lambda _, __: Chat(text, **fields)


def called(*calls: ToolCall) -> Callable[[Seen], bool]:
    expected = [(call.name, json.loads(call.arguments or "{}")) for call in calls]
    return lambda seen: (
        [(name, json.loads(arguments or "{}")) for name, arguments in seen.calls] == expected
        and seen.finish == Finish.CALLS
    )


def refused(_: Dialect, stream: bool) -> Answer:  # as of every case
    return (
        Events(({"error": {"message": "busy", "type": "overloaded_error"}, "type": "error"},))
        if stream
        else Status(500)
    )


def broken(spoken: Dialect, stream: bool) -> Answer:
    return stream_of("half ", then="cut", dialect=spoken) if stream else Truncated("half ")


F = ToolCall("f", '{"a": {"b": [1, "é"]}}', "call_1")
G = ToolCall("g", '{"c": 2}', "call_2")
BARE = ToolCall("f", "{}", "call_1")
TOOLS = MappingProxyType({
    CHAT: {"tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in "fg"]},
    MESSAGES: {"tools": [{"name": name, "input_schema": SCHEMA} for name in "fg"]},
    RESPONSES: {"tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in "fg"]},
})  # fmt: skip
PICTURE = MappingProxyType({
    CHAT: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    MESSAGES: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    RESPONSES: {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
})  # fmt: skip

CASES = (
    Case("text", said(), lambda seen: (seen.text, seen.finish) == ("hello", Finish.NATURAL)),
    Case("tools", said("", tool_calls=(F,)), called(F), TOOLS, NAMES),
    Case("parallel tools", said("", tool_calls=(F, G)), called(F, G), TOOLS, NAMES),
    Case("zero-argument tool", said("", tool_calls=(BARE,)), called(BARE), TOOLS, NAMES),
    Case(
        "images", said(), lambda seen: seen.text == "hello",
        {
            dialect: {SAID_IN[dialect]: [{"role": "user", "content": [part]}]} for dialect, part in PICTURE.items()
        }, PNG,
    ),
    Case(
        "reasoning", said(reasoning="hm so"), lambda seen: (seen.thoughts, seen.text) == ("hm so", "hello"),
        {
            CHAT: {"reasoning_effort": "low"},
            MESSAGES: {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            RESPONSES: {"reasoning": {"effort": "low"}},
        },
        '"low"',
    ),
    Case(
        "structured output", said(OSLO), lambda seen: seen.text == OSLO,
        {
            CHAT: {"response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}},
            MESSAGES: {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            RESPONSES: {"text": {"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}}},
        },
        NAMES,
    ),
    Case("refusal", said("No.", finish_reason="content_filter"), lambda seen: seen.finish == Finish.REFUSED),
    Case("max tokens", said(finish_reason="length"), lambda seen: seen.finish == Finish.LENGTH),
    Case("error before", refused, lambda seen: seen.status >= 400 and seen.error and not seen.text),
    Case(
        "error after content", broken,
        lambda seen: seen.error and seen.finish is None and (seen.text, seen.status) in {("half ", 200), ("", 502)},
    ),
)  # fmt: skip

PAIRS = tuple((asked, spoken) for asked in SIDES for spoken in SIDES)


def found() -> dict[tuple[str, bool], dict[tuple[Dialect, Dialect], str]]:
    """By case and mode, what came of it for each pair: GREEN, or what was wrong."""
    rows: dict[tuple[str, bool], dict[tuple[Dialect, Dialect], str]] = {
        (case.name, stream): {} for case in CASES for stream in (False, True)
    }
    for asked, spoken in PAIRS:
        cooldown = {"base": "1ms", "max": "1ms"}
        with World(provider_fields={"a": {"dialects": [str(spoken)]}}, cooldown=cooldown) as world:
            for case in CASES:
                for stream in (False, True):
                    rows[case.name, stream][asked, spoken] = tried(case, asked, spoken, world, stream=stream)
    return rows


def tried(case: Case, asked: Dialect, spoken: Dialect, world: World, *, stream: bool) -> str:
    request = REQUEST[asked]("chat", stream=stream, **case.fields.get(asked, NOTHING))
    seen = seen_in(world.exchange(request, case.answer(spoken, stream)), asked)
    if case.sent not in world.a.log[-1].body.decode():
        return "not sent"
    return GREEN if case.is_right(seen) else f"wrong: {seen}"


def seen_in(reply: Reply, asked: Dialect) -> Seen:
    """Read by the side of the caller's dialect, which knows nothing of the target's."""
    if reply.status != 200:
        return Seen(reply.status, error=bool(reply.json()["error"]["message"]))
    if not (reply.header("content-type") or b"").startswith(b"text/event-stream"):
        return whole(SIDES[asked].read_answer(reply.body))
    reader, seen = SIDES[asked].reader(), Seen(200)
    for event in SseDecoder().feed(reply.body):
        for said_now in reader.read(event.data or b""):
            add(said_now, seen)
    return seen


def whole(answer: Whole) -> Seen:
    seen = Seen(200, finish=answer.finish)
    for part in answer.parts:
        if isinstance(part, Call):
            seen.calls.append((part.name, part.arguments))
        else:
            add(part, seen)
    return seen


def add(event: Event, seen: Seen) -> None:
    if isinstance(event, Text | Refusal):
        seen.text += event.text
    elif isinstance(event, Thinking):
        seen.thoughts += event.text
    elif isinstance(event, CallBegun):
        seen.calls.append((event.name, ""))
    elif isinstance(event, CallDelta):
        name, arguments = seen.calls[event.number]
        seen.calls[event.number] = name, arguments + event.arguments
    elif isinstance(event, Finished):
        seen.finish = ended(event.finish, has_calls=bool(seen.calls), has_refusal=False)
    elif isinstance(event, Failed):
        seen.error = True


def table(rows: Mapping[tuple[str, bool], Mapping[tuple[Dialect, Dialect], str]]) -> Iterator[str]:
    """As the page on dialects has it."""
    yield "| case | " + " | ".join(f"{asked} to {spoken}" for asked, spoken in PAIRS) + " |"
    yield "|---" * (len(PAIRS) + 1) + "|"
    for (name, stream), cells in rows.items():
        mode = "streamed" if stream else "whole"
        yield f"| {name}, {mode} | " + " | ".join(cells[pair] for pair in PAIRS) + " |"


if __name__ == "__main__":
    results = found()
    sys.stdout.writelines(f"{line}\n" for line in table(results))
    sys.exit(any(cell != GREEN for cells in results.values() for cell in cells.values()))
