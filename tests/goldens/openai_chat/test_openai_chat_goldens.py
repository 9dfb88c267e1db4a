"""The `full` cases of the dialect: files beside this one say what is read from them and what is written."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.dialects.sse import SseDecoder
from pointsman.domain.errors import ErrorKind, GatewayError

CODEC = OpenAIChat()
HERE = Path(__file__).parent
MODEL = "vendor/model-1"


def golden(name: str) -> bytes:
    return (HERE / name).read_bytes()


def expected(name: str) -> Any:
    return json.loads(golden(name))


def told(facts: msgspec.Struct) -> dict[str, Any]:
    """What is there to tell: everything but nothing, no and not known."""
    values = msgspec.to_builtins(facts)
    return {name: told_value for name, value in values.items() if (told_value := _told(value))}


def _told(value: Any) -> Any:
    return {key: part for key, part in value.items() if part is not None} if isinstance(value, dict) else value


def test_the_facts_of_a_full_request() -> None:
    facts = CODEC.read_request(golden("request.full.json")).facts

    assert msgspec.to_builtins(facts) == expected("request.full.facts.json")


@pytest.mark.bug("D-06", "E-08")
def test_the_bytes_that_a_full_request_becomes() -> None:
    request = CODEC.read_request(golden("request.full.json"))

    assert CODEC.write_request(request, MODEL) == golden("request.full.sent.json")


def test_the_events_of_a_full_stream() -> None:
    events = SseDecoder().feed(golden("stream.full.sse"))

    read = [None if event.data is None else CODEC.read_event(event.data, before_content=True) for event in events]

    assert [facts and told(facts) for facts in read] == expected("stream.full.events.json")


@pytest.mark.case("T21")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1_000])
def test_the_events_of_a_full_stream_in_pieces(size: int) -> None:
    raw = golden("stream.full.sse")
    decoder = SseDecoder()

    events = [event for at in range(0, len(raw), size) for event in decoder.feed(raw[at : at + size])]

    assert events == SseDecoder().feed(raw)
    assert b"".join(event.raw for event in events) == raw


def test_the_facts_of_a_full_answer() -> None:
    facts = CODEC.read_answer(golden("answer.full.json"))

    assert told(facts) == expected("answer.full.facts.json")


@pytest.mark.bug("B-13")
def test_the_facts_of_a_full_error() -> None:
    error = CODEC.read_error(503, golden("error.full.json"))

    assert msgspec.to_builtins(error) == expected("error.full.facts.json")


def test_the_bytes_of_an_error_of_ours() -> None:
    error = GatewayError(ErrorKind.NO_ELIGIBLE_TARGET, 'No target can serve "é".', param="tools")

    assert CODEC.write_error(error) == golden("error.written.json")
