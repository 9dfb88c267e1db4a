"""The `full` cases of the dialects on their way over each bridge."""

import json
from pathlib import Path

import msgspec
import pytest

from pointsman.dialects.bridges.bridge import BRIDGES, Surroundings
from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect

HERE = Path(__file__).parent
MODEL = "vendor/model-1"
AROUND = Surroundings(created_s=1_800_000_000, expected_input_tokens=7)
LIMIT_BYTES = 1 << 20

Pair = tuple[Dialect, Dialect]
EVERY_BRIDGE = pytest.mark.parametrize("pair", BRIDGES, ids="-".join)


def given(dialect: Dialect, name: str) -> bytes:
    return (HERE / dialect / name).read_bytes()


def golden(pair: Pair, name: str) -> bytes:
    return (HERE / "bridges" / "-".join(pair) / name).read_bytes()


def request(pair: Pair) -> ParsedRequest:
    return DIALECTS[pair[0]].read_request(given(pair[0], "request.full.json"))


@EVERY_BRIDGE
def test_what_a_full_request_becomes(pair: Pair) -> None:
    sent = BRIDGES[pair].write_request(request(pair), MODEL, None)

    assert json.loads(sent) == json.loads(golden(pair, "request.sent.json"))


@EVERY_BRIDGE
@pytest.mark.bug("D-06")
def test_a_full_request_becomes_the_same_bytes_each_time(pair: Pair) -> None:
    first, second = (BRIDGES[pair].write_request(request(pair), MODEL, None) for _ in range(2))

    assert first == second


@EVERY_BRIDGE
def test_what_of_a_full_request_is_lost(pair: Pair) -> None:
    lost = json.loads(msgspec.json.encode(BRIDGES[pair].lost(request(pair))))

    assert lost == json.loads(golden(pair, "request.lost.json"))


@EVERY_BRIDGE
def test_what_a_full_answer_becomes(pair: Pair) -> None:
    carried = BRIDGES[pair].answer(given(pair[1], "answer.full.json"), AROUND)

    assert json.loads(carried) == json.loads(golden(pair, "answer.json"))


@EVERY_BRIDGE
def test_what_a_full_stream_becomes(pair: Pair) -> None:
    decoder = BRIDGES[pair].decoder(LIMIT_BYTES, AROUND, is_lenient=False)

    events = decoder.feed(given(pair[1], "stream.full.sse"))

    assert b"".join(event.raw for event in events) == golden(pair, "stream.sse")


@EVERY_BRIDGE
@pytest.mark.bug("E-01", "E-02")
@pytest.mark.case("T21")
def test_a_full_stream_becomes_the_same_wherever_it_is_cut_in_two(pair: Pair) -> None:
    raw = given(pair[1], "stream.full.sse")

    for cut in range(len(raw)):
        decoder = BRIDGES[pair].decoder(LIMIT_BYTES, AROUND, is_lenient=False)
        events = decoder.feed(raw[:cut]) + decoder.feed(raw[cut:])
        assert b"".join(event.raw for event in events) == golden(pair, "stream.sse")
