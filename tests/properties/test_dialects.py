"""Events do not depend on cuts; a request changes in the named places only."""

import contextlib
import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.dialects.codec import Codec
from pointsman.dialects.named_events import NamedEventDecoder
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.sse import SseDecoder, SseEvent
from pointsman.dialects.top_level import read_top_level
from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect

EVERY_DIALECT = pytest.mark.parametrize("codec", DIALECTS.values(), ids=DIALECTS)
SEEDED = settings(deadline=None, derandomize=True)
SLOW_TO_DRAW = settings(SEEDED, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
BOM = b"\xef\xbb\xbf"

# --- server-sent events

LINES = st.one_of(
    st.sampled_from(
        [b"data: a", b"data:b", b"data", b": c", b":", b"event: e", b"id: 1", b"x", b"", b"data: \xf0\x9f\x9a\x80"]
    ),
    st.binary(max_size=8),
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b""])
STREAMS = st.builds(
    lambda mark, lines: mark + b"".join(line + end for line, end in lines),
    st.sampled_from([b"", BOM, BOM[:2], BOM * 2]),
    st.lists(st.tuples(LINES, ENDS), max_size=12),
)


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    return [raw[start:end] for start, end in itertools.pairwise(at)]


def fed(parts: list[bytes]) -> tuple[list[SseEvent], list[SseEvent]]:
    decoder = SseDecoder()
    events = [event for part in parts for event in decoder.feed(part)]
    return events, decoder.close()


@pytest.mark.case("T21")
@SEEDED
@given(raw=STREAMS, cuts=st.lists(st.integers(0, 300), max_size=10))
def test_events_do_not_depend_on_where_the_bytes_are_cut(raw: bytes, cuts: list[int]) -> None:
    assert fed(pieces(raw, cuts)) == fed([raw])


@pytest.mark.case("T21")
@SEEDED
@given(raw=STREAMS)
def test_events_byte_by_byte_are_the_same(raw: bytes) -> None:
    assert fed([raw[at : at + 1] for at in range(len(raw))]) == fed([raw])


@SEEDED
@given(raw=STREAMS, cuts=st.lists(st.integers(0, 300), max_size=10))
def test_no_byte_is_lost_or_made_up(raw: bytes, cuts: list[int]) -> None:
    events, last = fed(pieces(raw, cuts))
    whole = b"".join(event.raw for event in events)
    rest = raw.removeprefix(BOM)[len(whole) :]

    assert raw.removeprefix(BOM).startswith(whole)
    assert [event.raw for event in last] == ([rest.rstrip(b"\r\n") + b"\n\n"] if rest.strip() else [])


@SEEDED
@given(
    values=st.lists(st.text().map(str.encode).filter(lambda v: not {10, 13} & set(v)), max_size=6),
    end=ENDS.filter(bytes),
)
def test_what_was_framed_is_what_is_read(values: list[bytes], end: bytes) -> None:
    raw = b"".join(b"data: " + value + end + end for value in values)

    events, last = fed([raw])

    assert [event.data for event in events + last] == values


TYPED = st.sampled_from([b'data: {"type":"ping"}', b'data: {"type":"x y"}', b"event: ping", b"event:", b"event"])
NAMED_STREAMS = st.builds(
    lambda lines: b"".join(line + end for line, end in lines),
    st.lists(st.tuples(TYPED | LINES, ENDS), max_size=12),
)


@pytest.mark.bug("E-15")
@pytest.mark.case("T21")
@SEEDED
@given(raw=NAMED_STREAMS, cuts=st.lists(st.integers(0, 300), max_size=10))
def test_names_are_all_that_is_added_to_events_wherever_they_are_cut(raw: bytes, cuts: list[int]) -> None:
    plain, named = SseDecoder(), NamedEventDecoder()

    expected = [event for part in pieces(raw, cuts) for event in plain.feed(part)] + plain.close()
    found = [event for part in pieces(raw, cuts) for event in named.feed(part)] + named.close()

    assert [event.data for event in found] == [event.data for event in expected]
    for event, was in zip(found, expected, strict=True):
        assert event.raw in {was.raw, b"event: ping\n" + was.raw.lstrip(b"\r\n")}


COUNTS = st.none() | st.integers(0, 10**6)


@pytest.mark.bug("H-02", "H-03")
@SEEDED
@given(reports=st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=4))
def test_usage_of_a_stream_is_made_of_the_last_count_of_each_kind(reports: list[tuple[int | None, ...]]) -> None:
    codec, names = DIALECTS[Dialect.ANTHROPIC_MESSAGES], ("input", "cache_read_input", "cache_creation_input", "output")
    last: dict[str, int] = {}
    usage: Usage | None = None
    for report in reports:
        counts = {f"{name}_tokens": count for name, count in zip(names, report, strict=True) if count is not None}
        last |= counts
        said = codec.read_event(
            json.dumps({"type": "message_delta", "usage": counts}).encode(), before_visible=False
        ).usage
        usage = said if usage is None or said is None else codec.usage_after(usage, said)

    assert usage is not None
    reads, writes = (last.get(f"cache_{kind}_input_tokens") for kind in ("read", "creation"))
    whole = last["input_tokens"] + (reads or 0) + (writes or 0) if "input_tokens" in last else None
    assert usage == Usage(whole, last.get("output_tokens"), reads, None, writes)


# --- requests

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
RESERVED = {"model", "stream", "stream_options", "provider", "models"}
NAMES = st.text(max_size=8).filter(lambda name: name.casefold() not in RESERVED)
SPACE = st.text(" \t\r\n", max_size=3)


def is_writable(text: str) -> bool:
    return not any(0xD800 <= ord(letter) < 0xE000 for letter in text)


@st.composite
def literals(draw: st.DrawFn, text: str) -> str:
    """A string of JSON that some other writer could have made."""
    if not draw(st.booleans()):
        return json.dumps(text, ensure_ascii=draw(st.booleans()))
    at = draw(st.integers(0, max(0, len(text) - 1)))
    letters = [json.dumps(letter)[1:-1] for letter in text]
    if letters and ord(text[at]) < 0x10000:
        letters[at] = f"\\u{ord(text[at]):04{draw(st.sampled_from('xX'))}}"
    return '"' + "".join(letters) + '"'


@st.composite
def bodies(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """An object of fields in any order and layout, and what it means."""
    fields = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    fields["model"] = draw(st.text(min_size=1, max_size=8).filter(is_writable))
    if draw(st.booleans()):
        fields["stream"] = draw(st.sampled_from([True, False, None]))
    if draw(st.booleans()):
        options = st.dictionaries(st.text(max_size=4), SCALARS, max_size=2)
        fields["stream_options"] = draw(st.none() | options)
        if fields["stream_options"] is not None and draw(st.booleans()):
            fields["stream_options"]["include_usage"] = draw(st.sampled_from([True, False, None]))
    is_compact = draw(st.booleans())
    space = st.just("") if is_compact else SPACE
    parts = []
    for name in draw(st.permutations(sorted(fields))):
        value = json.dumps(
            fields[name], separators=(",", ":") if is_compact else draw(st.sampled_from([(",", ":"), (" ,\n", " : ")]))
        )
        key = json.dumps(name, ensure_ascii=False) if is_compact else draw(literals(name))
        parts.append(f"{draw(space)}{key}{draw(space)}:{draw(space)}{value}{draw(space)}")
    return f"{draw(space)}{{{','.join(parts)}}}{draw(space)}".encode(), fields


@EVERY_DIALECT
@pytest.mark.case("I18")
@pytest.mark.bug("D-06")
@SLOW_TO_DRAW
@given(made=bodies(), model=st.text(min_size=1, max_size=8).filter(is_writable))
def test_what_was_authorised_is_what_is_sent(codec: Codec, made: tuple[bytes, dict[str, Any]], model: str) -> None:
    body, fields = made
    request = codec.read_request(body)

    written = codec.write_request(request, model)

    options = fields.get("stream_options") or {}
    can_be_asked = codec.dialect in {Dialect.OPENAI_CHAT, Dialect.OPENAI_COMPLETIONS}
    asks = can_be_asked and bool(fields.get("stream")) and options.get("include_usage") is not True
    expected = fields | {"model": model} | ({"stream_options": {**options, "include_usage": True}} if asks else {})
    assert request.facts.model == fields["model"]
    assert json.loads(written) == expected
    assert len(json.loads(written, object_pairs_hook=list)) == len(expected)  # a reader of the first key agrees


@EVERY_DIALECT
@pytest.mark.bug("D-06")
@SLOW_TO_DRAW
@given(made=bodies(), model=st.text(min_size=1, max_size=8).filter(is_writable))
def test_every_byte_outside_the_edits_is_as_it_was(
    codec: Codec, made: tuple[bytes, dict[str, Any]], model: str
) -> None:
    body, _ = made
    request = codec.read_request(body)

    written = codec.write_request(request, model)

    edits = [(*request.model_span, json.dumps(model, ensure_ascii=False).encode()), *filter(None, [request.usage_edit])]
    kept = [body[start:end] for start, end in gaps(edits, len(body))]
    for part in kept:
        at = written.find(part)
        assert at >= 0
        written = written[at + len(part) :]


def gaps(edits: list[tuple[int, int, bytes]], length: int) -> list[tuple[int, int]]:
    ordered = sorted(edits)
    starts = [0, *(end for _, end, _ in ordered)]
    ends = [*(start for start, _, _ in ordered), length]
    return list(zip(starts, ends, strict=True))


@SLOW_TO_DRAW
@given(made=bodies())
def test_the_span_of_every_field_holds_exactly_its_value(made: tuple[bytes, dict[str, Any]]) -> None:
    body, fields = made

    top = read_top_level(body)

    assert {name: json.loads(body[slice(*top.span(name))]) for name in top.values} == fields


@pytest.mark.case("I18")
@SLOW_TO_DRAW
@given(made=bodies(), again=st.data())
def test_a_repeated_field_is_refused_in_every_layout(made: tuple[bytes, dict[str, Any]], again: st.DataObject) -> None:
    body, fields = made
    name = again.draw(st.sampled_from(sorted(fields)))
    literal = again.draw(literals(name))
    value = again.draw(st.sampled_from([json.dumps(fields[name]), "1", "12", '"a"', "null"]))
    field = f"{again.draw(SPACE)}{literal}{again.draw(SPACE)}:{value}".encode()
    is_first = again.draw(st.booleans())
    at = body.index(b"{") + 1 if is_first else body.rindex(b"}")
    twice = body[:at] + (field + b"," if is_first else b"," + field) + body[at:]

    with pytest.raises(GatewayError):
        read_top_level(twice)


@EVERY_DIALECT
@SEEDED
@given(raw=st.binary(max_size=60) | st.text(alphabet='{}[]":,\\ntu019.eE- model', max_size=60).map(str.encode))
def test_no_bytes_break_the_codec(codec: Codec, raw: bytes) -> None:
    with contextlib.suppress(GatewayError):
        codec.read_request(raw)
    codec.read_answer(raw)
    codec.read_error(500, raw)
    codec.read_event(raw, before_visible=True)


ODD_SHAPES = {
    Dialect.OPENAI_CHAT: lambda odd: [
        {"choices": odd},
        {"choices": [odd]},
        {"choices": [{"delta": odd}]},
        {"error": odd},
        {"usage": odd, "choices": [{"message": odd, "finish_reason": odd}]},
    ],
    Dialect.OPENAI_COMPLETIONS: lambda odd: [
        {"choices": [{"text": odd}]},
        {"usage": {"prompt_tokens": odd, "completion_tokens": 0}, "choices": [{"text": odd, "finish_reason": "stop"}]},
    ],
    Dialect.OPENAI_EMBEDDINGS: lambda odd: [
        {"data": odd, "usage": odd},
        {"data": [odd], "usage": {"prompt_tokens": odd}, "error": odd},
    ],
    Dialect.OPENAI_RESPONSES: lambda odd: [
        {"output": odd, "status": odd, "usage": odd, "error": odd},
        {"output": [odd], "status": "completed", "usage": {"output_tokens": 0}},
        {"output": [{"type": odd}, {"type": "message", "content": odd}], "status": "completed"},
        {"incomplete_details": odd, "output": []},
        {"type": odd, "error": odd},
        {"type": "error", "code": odd, "message": odd},
        {"type": "response.created", "response": odd},
        {"type": "response.completed", "response": odd},
        {"type": "response.failed", "response": {"error": odd, "status": odd}},
        {"type": "response.incomplete", "response": {"incomplete_details": {"reason": odd}, "usage": odd}},
        {"type": "response.output_item.added", "item": odd},
        {"type": "response.output_item.added", "item": {"type": "reasoning", "summary": odd, "content": odd}},
        {"type": "response.content_part.added", "part": odd},
        {"type": "response.output_text.delta", "delta": odd},
    ],
    Dialect.ANTHROPIC_MESSAGES: lambda odd: [
        {"content": odd, "stop_reason": odd, "usage": odd},
        {"content": [odd], "usage": {"output_tokens": 0}, "stop_reason": "end_turn"},
        {"type": odd, "error": odd},
        {"type": "error", "error": odd},
        {"type": "message_start", "message": odd},
        {"type": "message_start", "message": {"usage": odd, "content": odd}},
        {"type": "content_block_start", "content_block": odd},
        {"type": "content_block_start", "content_block": {"type": odd, "text": odd}},
        {"type": "content_block_delta", "delta": odd},
        {"type": "message_delta", "delta": odd, "usage": {"input_tokens": odd, "cache_creation": odd}},
    ],
}


@EVERY_DIALECT
@SEEDED
@given(odd=VALUES)
def test_no_shape_breaks_the_codec(codec: Codec, odd: Any) -> None:
    for shape in [odd, *ODD_SHAPES[codec.dialect](odd)]:
        raw = json.dumps(shape).encode()
        codec.read_answer(raw)
        codec.read_error(500, raw)
        assert not codec.read_event(raw, before_visible=True).is_malformed or not is_plain(shape)


def is_plain(shape: Any) -> bool:
    """Without lone surrogates and numbers that no double holds, which are no JSON to a strict reader."""
    if isinstance(shape, dict):
        return all(is_plain(key) and is_plain(value) for key, value in shape.items())
    if isinstance(shape, list):
        return all(map(is_plain, shape))
    if isinstance(shape, float):
        return math.isfinite(shape)
    return not isinstance(shape, str) or is_writable(shape)
