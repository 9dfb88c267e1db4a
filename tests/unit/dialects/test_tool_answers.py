"""Answers to requests with tools: which of them nobody can use, in every dialect, whole or streamed."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.overheard import MAX_BYTES, Overheard
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.sse import SseDecoder
from pointsman.dialects.tool_answers import Judged, can_be_judged, judged
from pointsman.domain.request import Dialect
from pointsman.domain.tool_fault import ToolFault
from pointsman.testing import chat, messages, responses
from pointsman.testing.chat import ToolCall

CHAT, MESSAGES, RESPONSES = Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_RESPONSES
SPOKEN = [CHAT, MESSAGES, RESPONSES]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: dict[Dialect, list[Any]] = {
    CHAT: [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}],
    MESSAGES: [{"name": "weather", "input_schema": SCHEMA}],
    RESPONSES: [{"type": "function", "name": "weather", "parameters": SCHEMA}],
}
ROME = ToolCall("weather", '{"city":"Rome"}', "call_1")
EVERY_MODE = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def asked(dialect: Dialect, *, stream: bool = False, **fields: Any) -> ParsedRequest:
    said = {"input": "x"} if dialect is RESPONSES else {"messages": [{"role": "user", "content": "x"}]}
    body = {"model": "m", "stream": stream, "tools": TOOLS[dialect], **said, **fields}
    parsed = DIALECTS[dialect].read_request(json.dumps(body).encode())
    if dialect is MESSAGES and "max_tokens" not in fields:  # this dialect demands one: as if there was none
        parsed = structs.replace(parsed, facts=structs.replace(parsed.facts, max_output_tokens=None))
    return parsed


def answer(dialect: Dialect, *calls: ToolCall, text: str = "", stream: bool = False) -> list[bytes]:
    """Its body, or the data of its events."""
    if not stream:
        return [json.dumps(_whole(dialect, calls, text)).encode()]
    return [json.dumps(event).encode() for event in _events(dialect, calls, text)]


def _whole(dialect: Dialect, calls: tuple[ToolCall, ...], text: str) -> dict[str, Any]:
    if dialect is CHAT:
        return dict(chat.completion(text, to=chat.NOTHING_SPECIAL, tool_calls=calls))
    if dialect is MESSAGES:
        blocks = [*([messages.text_block(text)] if text else []), *map(messages.tool_use_block, calls)]
        return {"type": "message", "content": blocks, "stop_reason": "tool_use" if calls else "end_turn"}
    items = [*([responses.message_item(text)] if text else []), *map(responses.call_item, calls)]
    return {"id": "r", "object": "response", "status": "completed", "output": items}


def _events(dialect: Dialect, calls: tuple[ToolCall, ...], text: str) -> Iterable[Any]:
    finish = {CHAT: "tool_calls", MESSAGES: "tool_use"} if calls else {CHAT: "stop", MESSAGES: "end_turn"}
    if dialect is CHAT:
        deltas = [*([chat.text_delta(text)] if text else []), *chat.tool_call_deltas(calls)]
        return [*map(chat.chunk, deltas), chat.chunk({}, finish_reason=finish[CHAT])]
    if dialect is MESSAGES:
        said = [*(messages.text_events(text, 0) if text else [])]
        return [messages.message_start(), *said, *[
            event for index, call in enumerate(calls, 1) for event in messages.tool_use_events(call, index)
        ], messages.message_delta(finish[MESSAGES])]  # fmt: skip
    said = [*(responses.text_events(text, 0) if text else [])]
    called = [event for index, call in enumerate(calls, 1) for event in responses.call_events(call, index)]
    return [*responses.created(), *said, *called, responses.ended(_whole(dialect, calls, text))]


@EVERY_MODE
@pytest.mark.parametrize("dialect", SPOKEN)
@pytest.mark.parametrize(
    ("calls", "text", "fault"),
    [
        ((ROME,), "", None),
        ((ROME, ToolCall("weather", '{"city":"Bari"}', "call_2")), "let me look", None),
        ((), "it rains", None),
        ((), "", ToolFault.EMPTY),
        ((ToolCall("wether", '{"city":"Rome"}', "c"),), "", ToolFault.UNKNOWN_TOOL),
        ((ToolCall("weather", '{"town":"Rome"}', "c"),), "", ToolFault.SCHEMA_MISMATCH),
        ((ToolCall("weather", '{"city":7}', "c"),), "hm", ToolFault.SCHEMA_MISMATCH),
        ((ROME, ToolCall("x", "{}", "d")), "", ToolFault.UNKNOWN_TOOL),
    ],
)
def test_what_nobody_can_use_is_a_fault(
    dialect: Dialect, stream: bool, calls: tuple[ToolCall, ...], text: str, fault: ToolFault | None
) -> None:
    said = answer(dialect, *calls, text=text, stream=stream)

    assert judged(asked(dialect, stream=stream), said) == Judged(fault)


@EVERY_MODE
@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
@pytest.mark.parametrize("arguments", ['{"city":"Ro', "Rome", "[1]", '{"city":"Rome"}}'])
def test_arguments_that_are_no_object_are_a_fault(dialect: Dialect, stream: bool, arguments: str) -> None:
    said = answer(dialect, ToolCall("weather", arguments, "c"), stream=stream)

    assert judged(asked(dialect, stream=stream), said) == Judged(ToolFault.INVALID_JSON)


def test_no_arguments_are_none() -> None:
    tools = [{"type": "function", "function": {"name": "now"}}]

    assert judged(asked(CHAT, tools=tools), answer(CHAT, ToolCall("now", "", "c"))) == Judged(None)


@pytest.mark.parametrize(
    ("dialect", "field"),
    [(CHAT, "max_completion_tokens"), (MESSAGES, "max_tokens"), (RESPONSES, "max_output_tokens")],
)
def test_answer_that_stops_for_its_length_is_a_fault_unless_the_caller_wanted_that(
    dialect: Dialect, field: str
) -> None:
    bodies = {
        CHAT: {"choices": [{"message": {"content": "so"}, "finish_reason": "length"}]},
        MESSAGES: {"type": "message", "content": [{"type": "text", "text": "so"}], "stop_reason": "max_tokens"},
        RESPONSES: {
            "id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [],
        },
    }  # fmt: skip
    said = [json.dumps(bodies[dialect]).encode()]

    assert judged(asked(dialect), said) == Judged(ToolFault.TRUNCATED)
    assert judged(asked(dialect, **{field: 5}), said) is None


def test_tools_that_the_provider_brings_along_have_any_name() -> None:
    tools = [*TOOLS[RESPONSES], {"type": "web_search"}]

    said = answer(RESPONSES, ToolCall("search", "{}", "c"))

    assert judged(asked(RESPONSES, tools=tools), said) == Judged(None)


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"choices":7}', b"\xff"])
def test_answer_that_cannot_be_read_says_nothing(said: bytes) -> None:
    assert judged(asked(CHAT), [said]) is None


def test_dialects_without_tools_are_not_judged() -> None:
    assert [dialect for dialect in Dialect if can_be_judged(dialect)] == [CHAT, RESPONSES, MESSAGES]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    dialect=st.sampled_from(SPOKEN), stream=st.booleans(), said=st.lists(st.binary(max_size=40), min_size=1, max_size=4)
)
def test_no_answer_is_a_fault_of_the_gateway(dialect: Dialect, stream: bool, said: list[bytes]) -> None:
    found = judged(asked(dialect, stream=stream), said)

    assert found is None or isinstance(found, Judged)


def test_overheard_stream_is_the_same_stream() -> None:
    raw = b"".join(chat.sse(event) for event in _events(CHAT, (ROME,), "so")) + b": bye\n\ndata: end"
    plain, kept = SseDecoder(), Overheard(SseDecoder())

    events = [[*decoder.feed(raw[:70]), *decoder.feed(raw[70:]), *decoder.close()] for decoder in (plain, kept)]

    assert events[0] == events[1]
    assert kept.heard == [event.data for event in events[0] if event.data is not None]


def test_of_an_endless_stream_nothing_is_kept() -> None:
    kept = Overheard(SseDecoder())

    for _ in range(3):
        kept.feed(b"data: " + b"x" * (MAX_BYTES // 2) + b"\n\n")
    kept.feed(b"data: x\n\n")

    assert kept.heard == []
    assert kept._kept == []
