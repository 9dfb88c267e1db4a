"""Turns an answer into the steps that put it on the wire. Pure; `player` carries the steps out."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from http import HTTPStatus
from typing import TypeAlias, assert_never

import msgspec
from msgspec import Struct

from pointsman.testing import chat
from pointsman.testing.answers import Answer, Chat, CloseEarly, Events, Hang, Json, Raw, Status, Truncated
from pointsman.testing.chat import Asked
from pointsman.testing.speech import SPEECHES

LAST_CHUNK = b"0\r\n\r\n"
BODILESS = frozenset({204, 304})
JSON_TYPE = ("content-type", "application/json")
EVENT_STREAM_HEADERS = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
    ("transfer-encoding", "chunked"),
)

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Wait(Struct, frozen=True):
    """Silence; 0 lets the event loop send what was written before more is."""

    duration_s: float


class End(Enum):
    """What becomes of the connection after an answer."""

    KEEP = "keep"  # ready for the next request
    CLOSE = "close"  # FIN
    RESET = "reset"  # RST
    STALL = "stall"  # open and silent, for ever


Step: TypeAlias = bytes | Wait | End

END_OF: dict[str, End] = {
    "done": End.KEEP,
    "end": End.KEEP,
    "keep": End.KEEP,
    "cut": End.CLOSE,
    "close": End.CLOSE,
    "reset": End.RESET,
    "stall": End.STALL,
}


def steps(answer: Answer, to: Asked) -> Iterator[Step]:
    """The steps of an answer; the last one, and only it, is an `End`."""
    if answer.delay_s:
        yield Wait(answer.delay_s)
    match answer:
        case Chat():
            yield from _chat_stream(answer, to) if to.stream else _chat_unary(answer, to)
        case Status():
            yield from _status(answer, to)
        case Json():
            yield from _message(answer.status, (JSON_TYPE,), answer.headers, msgspec.json.encode(answer.payload))
        case Events():
            yield from _events(answer, to)
        case Truncated():
            yield from _truncated(answer, to)
        case Raw():
            yield from _spaced(((piece,) for piece in answer.pieces), answer.gap_s)
            yield END_OF[answer.then]
        case CloseEarly():
            yield End.RESET if answer.reset else End.CLOSE
        case Hang():
            yield End.STALL
        case unexpected:
            assert_never(unexpected)


def head(status: int, usual: Headers, given: Headers = ()) -> bytes:
    """A response head; a given header replaces the usual one of its name."""
    replaced = {name.lower() for name, _ in given}
    headers = *((name, value) for name, value in usual if name not in replaced), *given
    lines = [f"HTTP/1.1 {status} {_reason(status)}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def chunk(payload: bytes) -> bytes:
    """A chunk of a chunked message; nothing for an empty payload, which would end the message."""
    return b"%x\r\n%b\r\n" % (len(payload), payload) if payload else b""


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"  # 529 and other codes of the vendors


def _message(status: int, usual: Headers, given: Headers, body: bytes) -> Iterator[Step]:
    if status in BODILESS:
        yield head(status, (), given)
    else:
        yield head(status, (*usual, ("content-length", str(len(body)))), given) + body
    yield End.KEEP


def _status(answer: Status, to: Asked) -> Iterator[Step]:
    usual: Headers = (("content-type", answer.content_type),)
    if answer.retry_after is not None:
        value = answer.retry_after
        usual += (("retry-after", value if isinstance(value, str) else f"{value:g}"),)
    said = SPEECHES[to.dialect].error(answer.code, answer.error)
    body = msgspec.json.encode(said) if answer.body is None else answer.body
    yield from _message(answer.code, usual, answer.headers, body)


def _chat_unary(answer: Chat, to: Asked) -> Iterator[Step]:
    gaps = len(chat.words(answer.text)) - 1
    if answer.gap_s and gaps > 0:
        yield Wait(answer.gap_s * gaps)
    payload = SPEECHES[to.dialect].whole(answer, to)
    yield from _message(200, (JSON_TYPE,), answer.headers, msgspec.json.encode(payload))


def _chat_stream(answer: Chat, to: Asked) -> Iterator[Step]:
    spoken = SPEECHES[to.dialect].stream(answer, to)
    yield head(200, EVENT_STREAM_HEADERS, answer.headers)
    yield from map(chunk, spoken.opening)
    yield from _spaced(((chunk(piece),) for piece in spoken.pieces), answer.gap_s)
    yield from map(chunk, spoken.closing)
    yield chunk(spoken.done) + LAST_CHUNK
    yield End.KEEP


def _events(answer: Events, to: Asked) -> Iterator[Step]:
    yield head(200, EVENT_STREAM_HEADERS, answer.headers)
    speech = SPEECHES[to.dialect]
    payloads = [speech.sse(event) if isinstance(event, Mapping) else event for event in answer.events]
    if answer.then == "done":
        payloads.append(speech.done)
    yield from _spaced((_cut(payload, answer.split) for payload in payloads), answer.gap_s)
    end = END_OF[answer.then]
    if end is End.KEEP:
        yield LAST_CHUNK
    yield end


def _cut(payload: bytes, split: int | None) -> Iterator[Step]:
    """Chunks of `split` bytes, each on its way before the next is written."""
    size = split or max(1, len(payload))
    for start in range(0, len(payload), size):
        if start:
            yield Wait(0)
        yield chunk(payload[start : start + size])


def _truncated(answer: Truncated, to: Asked) -> Iterator[Step]:
    body = msgspec.json.encode(SPEECHES[to.dialect].whole(Chat(answer.text, usage=None), to))
    sent_bytes = len(body) // 2 if answer.sent_bytes is None else answer.sent_bytes
    yield head(200, (JSON_TYPE, ("content-length", str(len(body)))), answer.headers) + body[:sent_bytes]
    yield END_OF[answer.then]


def _spaced(groups: Iterable[Iterable[Step]], gap_s: float) -> Iterator[Step]:
    """All groups in order, with a silence between them if there is one."""
    for index, group in enumerate(groups):
        if index and gap_s:
            yield Wait(gap_s)
        yield from group
