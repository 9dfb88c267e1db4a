"""Bridges: cuts and interleavings change nothing, and what goes there and back is what it was."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.dialects.bridges.bridge import BRIDGES
from pointsman.dialects.bridges.decoder import BridgeDecoder
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.sse import SseEvent
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Dialect
from pointsman.testing import chat
from pointsman.testing.answers import Chat
from pointsman.testing.chat import Asked, ToolCall
from pointsman.testing.speech import SPEECHES
from tests.properties.test_dialects import VALUES, pieces
from tests.unit.dialects.bridges.carried import (
    AROUND,
    CHAT,
    LIMIT_BYTES,
    MESSAGES,
    RESPONSES,
    blocks,
    output,
    read,
    relayed,
)

SEEDED = settings(deadline=None, derandomize=True)
EVERY_PAIR = pytest.mark.parametrize("pair", BRIDGES, ids="-".join)

Pair = tuple[Dialect, Dialect]

OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=3)
CALLS = st.lists(
    st.builds(lambda name, value: (name, json.dumps(value)), st.sampled_from("fgh"), OBJECTS), max_size=4
).map(lambda found: tuple(ToolCall(name, said, f"c{at}") for at, (name, said) in enumerate(found)))
ANSWERS = st.builds(
    lambda text, reasoning, calls: Chat(text, reasoning=reasoning, tool_calls=calls),
    st.text(max_size=20), st.text(max_size=10), CALLS,
)  # fmt: skip
CUTS = st.lists(st.integers(0, 10_000), max_size=12)


def decoder(pair: Pair) -> BridgeDecoder:
    return BRIDGES[pair].decoder(LIMIT_BYTES, AROUND, is_lenient=False)


def spoken(answer: Chat, dialect: Dialect) -> bytes:
    said = SPEECHES[dialect].stream(answer, Asked(stream=True, include_usage=True, dialect=dialect))
    return b"".join((*said.opening, *said.pieces, *said.closing, said.done))


@EVERY_PAIR
@pytest.mark.bug("E-01", "E-02")
@pytest.mark.case("T21")
@SEEDED
@given(answer=ANSWERS, cuts=CUTS)
def test_events_do_not_depend_on_where_a_stream_is_cut(pair: Pair, answer: Chat, cuts: list[int]) -> None:
    raw = spoken(answer, pair[1])
    whole, cut = decoder(pair), decoder(pair)

    found = [event for piece in pieces(raw, cuts) for event in cut.feed(piece)]

    assert found == whole.feed(raw)
    assert cut.usage == whole.usage


@EVERY_PAIR
@SEEDED
@given(answer=ANSWERS)
def test_a_stream_says_what_the_whole_answer_says(pair: Pair, answer: Chat) -> None:
    asked, upstream = pair
    whole = json.dumps(SPEECHES[upstream].whole(answer, Asked(dialect=upstream))).encode()

    there = decoder(pair).feed(spoken(answer, upstream))
    back = decoder((upstream, asked)).feed(b"".join(event.raw for event in there))

    assert shape(joined(back)) == shape(joined(DIALECTS[upstream].decoder().feed(spoken(answer, upstream))))
    assert BRIDGES[upstream, asked].answer(BRIDGES[pair].answer(whole, AROUND), AROUND)


def joined(events: list[SseEvent]) -> list[Any]:
    return [read(event.data) for event in events]


def shape(events: list[Any]) -> object:
    """What a stream of either dialect says, whatever the pieces are that it says it in."""
    first = next(event for event in events if isinstance(event, dict))
    if "sequence_number" in first:
        return [
            (item.get("content"), item.get("summary"), item.get("arguments") and json.loads(item["arguments"]))
            for item in output(events)
        ]
    if "type" in first:
        return [(block.get("text"), block.get("thinking"), block.get("input")) for block in blocks(events)]
    deltas = [choice["delta"] for event in events if isinstance(event, dict) for choice in event["choices"]]
    texts = ["".join(delta.get(name) or "" for delta in deltas) for name in ("content", "reasoning_content")]
    said: dict[int, str] = {}
    for delta in deltas:
        for piece in delta.get("tool_calls", ()):
            said[piece["index"]] = said.get(piece["index"], "") + piece["function"]["arguments"]
    return texts, [json.loads(text) for text in said.values()]


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[tuple[ToolCall, ...], list[dict[str, Any]]]:
    """Calls, and their pieces in any order that keeps the order of each call and of their beginnings."""
    calls = draw(CALLS.filter(bool))
    waiting = [chat.tool_call_deltas([call]) for call in calls]
    for at, deltas in enumerate(waiting):
        for delta in deltas:
            delta["tool_calls"][0]["index"] = at
    found: list[dict[str, Any]] = []
    begun = 0
    while any(waiting):
        ready = [at for at, deltas in enumerate(waiting) if deltas and at <= begun]
        at = draw(st.sampled_from(ready))
        begun = max(begun, at + 1)
        found.append(waiting[at].pop(0))
        if draw(st.booleans()):
            found.append({"content": ""})  # G-06
    return calls, found


@pytest.mark.bug("G-01", "G-03", "G-06")
@SEEDED
@given(case=interleaved())
def test_arbitrary_interleavings_of_calls_give_the_same_message(
    case: tuple[tuple[ToolCall, ...], list[dict[str, Any]]],
) -> None:
    calls, deltas = case
    stream = b"".join(chat.sse(chat.chunk(delta)) for delta in deltas) + chat.DONE

    found = blocks(relayed(MESSAGES, stream))
    items = output(relayed(RESPONSES, stream))

    assert [(item["call_id"], item["name"], json.loads(item["arguments"])) for item in items] == [
        (call.id, call.name, json.loads(call.arguments)) for call in calls
    ]
    assert found == [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)} for call in calls
    ]


TEXTS = st.text(min_size=1, max_size=8).filter(str.strip)
TEXT_PARTS = st.builds(lambda text: {"type": "text", "text": text}, TEXTS)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Chat messages as a client keeps them: questions, answers with calls, and the results of all of them."""
    found: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(1, 3))):
        parts = draw(st.lists(TEXT_PARTS, min_size=2, max_size=3))
        found.append({"role": "user", "content": draw(st.just(parts) | TEXTS)})
        calls = draw(CALLS)
        said: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS)}
        if calls:
            said["tool_calls"] = [
                {
                    "id": f"t{turn}{call.id}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in calls
            ]
        found.append(said)
        found += [{"role": "tool", "tool_call_id": f"t{turn}{call.id}", "content": draw(TEXTS)} for call in calls]
    return found


@SEEDED
@given(said=conversations(), system=st.none() | TEXTS)
def test_a_conversation_that_goes_there_and_back_is_what_it_was(said: list[dict[str, Any]], system: str | None) -> None:
    messages = [*([{"role": "system", "content": system}] if system else []), *said]
    body = json.dumps({"model": "m", "messages": messages, "max_completion_tokens": 9}).encode()

    there = BRIDGES[CHAT, MESSAGES].write_request(DIALECTS[CHAT].read_request(body), "m", None)
    back = BRIDGES[MESSAGES, CHAT].write_request(DIALECTS[MESSAGES].read_request(there), "m", None)

    assert normal(json.loads(back)["messages"]) == normal(messages)


def normal(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Arguments as values, since one text may be written in many ways."""
    return [
        {
            **message,
            "tool_calls": [
                (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls", ())
            ],
        }
        for message in messages
    ]


@EVERY_PAIR
@SEEDED
@given(fields=st.dictionaries(
    st.sampled_from((
        "messages", "system", "tools", "tool_choice", "max_tokens", "temperature", "stop", "response_format",
        "thinking", "output_config", "stop_sequences", "reasoning_effort", "n", "input", "instructions", "text",
        "reasoning", "verbosity",
    )),
    VALUES, max_size=4,
))  # fmt: skip
def test_no_request_is_too_odd_to_be_judged(pair: Pair, fields: dict[str, Any]) -> None:
    try:
        parsed = DIALECTS[pair[0]].read_request(json.dumps({"model": "m", **fields}).encode())
    except GatewayError:
        return

    lost = BRIDGES[pair].lost(parsed)

    if not lost.content:
        assert json.loads(BRIDGES[pair].write_request(parsed, "m", None))["model"] == "m"


@EVERY_PAIR
@SEEDED
@given(events=st.lists(st.dictionaries(
    st.sampled_from(("type", "index", "delta", "content_block", "message", "usage", "choices", "error", "id",
                     "item", "output_index", "response")),
    VALUES | st.sampled_from(("message_start", "content_block_start", "content_block_delta", "message_delta",
                              "response.output_item.added", "response.completed", "response.output_text.delta")),
    max_size=4,
), max_size=4))  # fmt: skip
def test_no_event_is_too_odd_to_be_read(pair: Pair, events: list[dict[str, Any]]) -> None:
    raw = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)

    for event in decoder(pair).feed(raw):
        DIALECTS[pair[0]].read_event(event.data or b"", before_visible=True)
