"""Requests, answers and streams that have gone over a bridge."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pointsman.dialects.bridges.bridge import BRIDGES, Bridge, Surroundings
from pointsman.dialects.bridges.neutral import Lost
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect
from pointsman.testing.speech import SPEECHES

CHAT, MESSAGES, RESPONSES = Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_RESPONSES
CREATED_S = 1_800_000_000
EXPECTED_INPUT_TOKENS = 7
AROUND = Surroundings(CREATED_S, EXPECTED_INPUT_TOKENS)
LIMIT_BYTES = 1 << 20
OTHER = {CHAT: MESSAGES, MESSAGES: CHAT, RESPONSES: CHAT}  # where a test names no target
ENDS = ("response.completed", "response.incomplete")
SAID_IN = {CHAT: "messages", MESSAGES: "messages", RESPONSES: "input"}  # the field with the conversation

Json = dict[str, Any]


def bridge_from(asked: Dialect, spoken: Dialect | None = None) -> Bridge:
    return BRIDGES[asked, spoken or OTHER[asked]]


def sent(asked: Dialect, *, spoken: Dialect | None = None, most: int | None = None, **fields: Any) -> Json:
    """What a request of a dialect becomes in another one; `most`: tokens that the target can write."""
    parsed = DIALECTS[asked].read_request(json.dumps({"model": "chat", **fields}).encode())
    found: Json = json.loads(bridge_from(asked, spoken).write_request(parsed, "m", most))
    return found


def lost(asked: Dialect, *, spoken: Dialect | None = None, **fields: Any) -> Lost:
    """What of it does not become anything."""
    parsed = DIALECTS[asked].read_request(json.dumps({"model": "chat", SAID_IN[asked]: [], **fields}).encode())
    return bridge_from(asked, spoken).lost(parsed)


def answered(
    asked: Dialect, answer: Mapping[str, object], *, spoken: Dialect | None = None, around: Surroundings = AROUND
) -> Json:
    """A whole answer of another dialect, as the caller gets it."""
    found: Json = json.loads(bridge_from(asked, spoken).answer(json.dumps(answer).encode(), around))
    return found


def raw(events: Iterable[Mapping[str, object] | bytes], spoken: Dialect) -> bytes:
    """A stream of a dialect; `bytes` among its events are taken as they are."""
    return b"".join(event if isinstance(event, bytes) else SPEECHES[spoken].sse(event) for event in events)


def relayed(
    asked: Dialect, stream: bytes, *, spoken: Dialect | None = None, around: Surroundings = AROUND,
    is_lenient: bool = False,
) -> list[Json | str]:  # fmt: skip
    """The events that a caller gets of a stream of another dialect; a text where there is no JSON in one."""
    decoder = bridge_from(asked, spoken).decoder(LIMIT_BYTES, around, is_lenient=is_lenient)
    return [read(event.data) for event in (*decoder.feed(stream), *decoder.close())]


def streamed(
    asked: Dialect, *events: Mapping[str, object] | bytes, spoken: Dialect | None = None,
    around: Surroundings = AROUND, is_lenient: bool = False,
) -> list[Json | str]:  # fmt: skip
    stream = raw(events, spoken or OTHER[asked])
    return relayed(asked, stream, spoken=spoken, around=around, is_lenient=is_lenient)


def read(data: bytes | None) -> Json | str:
    if data is None or not data.endswith(b"}"):
        return "" if data is None else data.decode()
    found: Json = json.loads(data)
    return found


def blocks(events: Iterable[Json | str]) -> list[Json]:
    """What Anthropic's SDK makes of the events; raises AssertionError where their order is none."""
    found: list[Json] = []
    is_open = False
    for event in events:
        if isinstance(event, str):
            continue
        if event["type"] == "content_block_start":
            assert (event["index"], is_open) == (len(found), False)
            found.append({**event["content_block"], "json": ""})
            is_open = True
        elif event["type"] == "content_block_delta":
            assert (event["index"], is_open) == (len(found) - 1, True)
            delta = event["delta"]
            found[-1]["json"] += delta.get("partial_json", "")
            for name in ("text", "thinking"):
                if name in delta:
                    found[-1][name] += delta[name]
        elif event["type"] == "content_block_stop":
            assert (event["index"], is_open) == (len(found) - 1, True)
            is_open = False
    assert not is_open
    return [_built(block) for block in found]


def _built(block: Json) -> Json:
    said = block.pop("json")
    return block | {"input": json.loads(said or "{}")} if block["type"] == "tool_use" else block


def message(chunks: Iterable[Json | str]) -> Json:
    """What OpenAI's SDK makes of the chunks."""
    found: Json = {"content": "", "reasoning_content": "", "refusal": "", "tool_calls": []}
    for chunk in chunks:
        if isinstance(chunk, str):
            continue
        for choice in chunk["choices"]:
            delta = choice["delta"]
            for name in ("content", "reasoning_content", "refusal"):
                found[name] += delta.get(name) or ""
            for piece in delta.get("tool_calls", ()):
                if piece["index"] == len(found["tool_calls"]):
                    found["tool_calls"].append({"id": piece["id"], **piece["function"]})
                else:
                    assert piece.keys() == {"index", "function"}
                    found["tool_calls"][piece["index"]]["arguments"] += piece["function"]["arguments"]
    return found


def output(events: Iterable[Json | str]) -> list[Json]:
    """What OpenAI's SDK makes of the events of Responses; raises AssertionError where their order is none."""
    found: list[Json] = []
    said: dict[str, str] = {}  # by the id of an item that is not done
    for number, event in enumerate(event for event in events if isinstance(event, dict)):
        kind = event["type"]
        assert event["sequence_number"] == number
        if kind == "response.output_item.added":
            assert event["output_index"] == len(found)
            found.append({})
            said[event["item"]["id"]] = ""
        elif kind.endswith(".delta"):
            said[event["item_id"]] += event["delta"]
        elif kind == "response.output_item.done":
            assert said.pop(event["item"]["id"]) in _texts(event["item"])
            found[event["output_index"]] = event["item"]
        elif kind in ENDS:
            assert (event["response"]["output"], said) == (found, {})
    return found


def _texts(item: Json) -> list[str]:
    """All that is said in an item."""
    parts = [item, *item.get("content", ()), *item.get("summary", ())]
    return [str(each.get(name)) for each in parts for name in ("text", "refusal", "arguments", "input")]


def end(events: Iterable[Json | str]) -> Json:
    """What the terminal event of a stream of Responses tells, which comes once and last."""
    found = [event for event in events if isinstance(event, dict)]
    assert [event["type"] in ENDS for event in found] == [False] * (len(found) - 1) + [True]
    response: Json = found[-1]["response"]
    return response


def closing(events: Iterable[Json | str]) -> Json:
    """The `message_delta` of a stream, which comes once."""
    (found,) = [event for event in events if isinstance(event, dict) and event["type"] == "message_delta"]
    return found


def finishes(chunks: Iterable[Json | str]) -> list[str]:
    """All finish reasons of a stream."""
    return [
        choice["finish_reason"]
        for chunk in chunks
        if isinstance(chunk, dict)
        for choice in chunk["choices"]
        if choice["finish_reason"] is not None
    ]
