"""The `full` cases of each dialect: the files of its folder say what is read from them and what is written."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pointsman.dialects.codec import Codec
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Dialect

HERE = Path(__file__).parent
MODEL = "vendor/model-1"

EVERY_CODEC = pytest.mark.parametrize("codec", DIALECTS.values(), ids=DIALECTS)
STREAMED = {name: codec for name, codec in DIALECTS.items() if name is not Dialect.OPENAI_EMBEDDINGS}
EVERY_STREAM = pytest.mark.parametrize("codec", STREAMED.values(), ids=STREAMED)


def golden(codec: Codec, name: str) -> bytes:
    return (HERE / codec.dialect / name).read_bytes()


def expected(codec: Codec, name: str) -> Any:
    return json.loads(golden(codec, name))


def told(facts: msgspec.Struct) -> dict[str, Any]:
    """What is there to tell: everything but nothing, no and not known."""
    values = msgspec.to_builtins(facts)
    return {name: told_value for name, value in values.items() if (told_value := _told(value))}


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return {key: part for key, part in value.items() if part is not None} if isinstance(value, dict) else value


@EVERY_CODEC
def test_the_facts_of_a_full_request(codec: Codec) -> None:
    facts = codec.read_request(golden(codec, "request.full.json")).facts

    assert json.loads(msgspec.json.encode(facts)) == expected(codec, "request.full.facts.json")


@EVERY_CODEC
@pytest.mark.bug("D-06", "E-08")
def test_the_bytes_that_a_full_request_becomes(codec: Codec) -> None:
    request = codec.read_request(golden(codec, "request.full.json"))

    assert codec.write_request(request, MODEL) == golden(codec, "request.full.sent.json")


@EVERY_STREAM
def test_the_events_of_a_full_stream(codec: Codec) -> None:
    events = codec.decoder().feed(golden(codec, "stream.full.sse"))

    read = [None if event.data is None else codec.read_event(event.data, before_visible=True) for event in events]

    assert [facts and told(facts) for facts in read] == expected(codec, "stream.full.events.json")


@EVERY_STREAM
@pytest.mark.case("T21")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1_000])
def test_the_events_of_a_full_stream_in_pieces(codec: Codec, size: int) -> None:
    raw = golden(codec, "stream.full.sse")
    decoder = codec.decoder()

    events = [event for at in range(0, len(raw), size) for event in decoder.feed(raw[at : at + size])]

    assert events == codec.decoder().feed(raw)
    assert b"".join(event.raw for event in events) == raw


@EVERY_STREAM
@pytest.mark.bug("E-01")
@pytest.mark.case("T21", "I36")
def test_a_full_stream_is_the_same_wherever_it_is_cut_in_two(codec: Codec) -> None:
    raw = golden(codec, "stream.full.sse")
    whole = codec.decoder().feed(raw)

    for cut in range(len(raw)):
        decoder = codec.decoder()
        assert decoder.feed(raw[:cut]) + decoder.feed(raw[cut:]) == whole


@EVERY_CODEC
def test_the_facts_of_a_full_answer(codec: Codec) -> None:
    facts = codec.read_answer(golden(codec, "answer.full.json"))

    assert told(facts) == expected(codec, "answer.full.facts.json")


@EVERY_CODEC
@pytest.mark.bug("B-13")
def test_the_facts_of_a_full_error(codec: Codec) -> None:
    error = codec.read_error(503, golden(codec, "error.full.json"))

    assert msgspec.to_builtins(error) == expected(codec, "error.full.facts.json")


@EVERY_CODEC
def test_the_bytes_of_an_error_of_ours(codec: Codec) -> None:
    error = GatewayError(ErrorKind.NO_ELIGIBLE_TARGET, 'No target can serve "é".', param="tools")

    assert codec.write_error(error, "req_1") == golden(codec, "error.written.json")
