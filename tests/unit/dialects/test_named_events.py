"""Events get the name of their type if they came without one, and are else as they were."""

import pytest

from pointsman.dialects.named_events import NamedEventDecoder

PING = b'data: {"type": "ping"}\n\n'
NAMED = b"event: ping\n" + PING


def raws(*pieces: bytes) -> list[bytes]:
    decoder = NamedEventDecoder()
    return [event.raw for piece in pieces for event in decoder.feed(piece)] + [event.raw for event in decoder.close()]


@pytest.mark.bug("E-15")
@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (PING, NAMED),
        (PING.removesuffix(b"\n\n"), NAMED),
        (b"\n\r\n" + PING, NAMED),
        (b"id: 1\n" + PING, b"event: ping\nid: 1\n" + PING),
        (b": hello\n" + PING, b"event: ping\n: hello\n" + PING),
        (b'data: {"type":\r\ndata: "ping"}\r\n\r\n', b'event: ping\ndata: {"type":\r\ndata: "ping"}\r\n\r\n'),
    ],
)
def test_event_without_a_name_gets_that_of_its_type(raw: bytes, named: bytes) -> None:
    assert raws(b": begin\n\n", raw) == [b": begin\n\n", named]


@pytest.mark.bug("E-15")
@pytest.mark.parametrize(
    "raw",
    [
        NAMED,
        b"event:ping\n" + PING,
        b"id: 1\nevent: other\n" + PING,
        b"id: 1\r\nevent: ping\r\ndata: {}\r\n\r\n",
        b": ping\n\n",
        b"data: {}\n\n",
        b"data: [1]\n\n",
        b'data: {"type": 5}\n\n',
        b'data: {"type": "a\\nb"}\n\n',
        b'data: {"type": "A b"}\n\n',
        b"data: {\n\n",
        b"data: \xff\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_any_other_event_is_as_it_was(raw: bytes) -> None:
    assert raws(raw) == [raw]


def test_names_do_not_depend_on_where_the_bytes_are_cut() -> None:
    raw = NAMED + PING + b": x\n\n" + PING

    for cut in range(len(raw)):
        assert raws(raw[:cut], raw[cut:]) == [NAMED, NAMED, b": x\n\n", NAMED]
