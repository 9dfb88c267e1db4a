"""Answers as steps, without a socket."""

import pytest

from pointsman.testing import Answer, Chat, CloseEarly, Events, Hang, Json, Raw, Status, Truncated
from pointsman.testing.chat import NOTHING_SPECIAL, Asked
from pointsman.testing.script import End, Step, Wait, chunk, head, steps

STREAMED = Asked(stream=True)


def waits(played: list[Step]) -> list[float]:
    return [step.duration_s for step in played if isinstance(step, Wait)]


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (Chat(), End.KEEP),
        (Status(500), End.KEEP),
        (Status(204), End.KEEP),
        (Json(200, {}), End.KEEP),
        (Events((), then="done"), End.KEEP),
        (Events((), then="end"), End.KEEP),
        (Events((), then="cut"), End.CLOSE),
        (Events((), then="reset"), End.RESET),
        (Events((), then="stall"), End.STALL),
        (Truncated(then="cut"), End.CLOSE),
        (Truncated(then="reset"), End.RESET),
        (Truncated(then="stall"), End.STALL),
        (Raw((), then="close"), End.CLOSE),
        (Raw((), then="reset"), End.RESET),
        (Raw((), then="stall"), End.STALL),
        (Raw((), then="keep"), End.KEEP),
        (CloseEarly(), End.CLOSE),
        (CloseEarly(reset=True), End.RESET),
        (Hang(), End.STALL),
    ],
)
@pytest.mark.parametrize("to", [NOTHING_SPECIAL, STREAMED])
def test_the_last_step_and_only_it_is_the_end(answer: Answer, end: End, to: Asked) -> None:
    *before, last = steps(answer, to)

    assert last is end
    assert not any(isinstance(step, End) for step in before)


@pytest.mark.parametrize(
    "answer",
    [
        Chat(delay_s=2),
        Status(500, delay_s=2),
        Json(200, {}, delay_s=2),
        Events((), delay_s=2),
        Truncated(delay_s=2),
        Raw((b"x",), delay_s=2),
        CloseEarly(delay_s=2),
        Hang(delay_s=2),
    ],
)
def test_every_answer_can_begin_with_silence(answer: Answer) -> None:
    first, *rest = steps(answer, NOTHING_SPECIAL)

    assert first == Wait(2)
    assert not waits(rest)


def test_gaps_stand_between_words_and_not_around_them() -> None:
    played = list(steps(Chat("a b c", gap_s=0.5), STREAMED))

    assert waits(played) == [0.5, 0.5]
    assert isinstance(played[-2], bytes)


def test_unary_answer_is_held_back_as_long_as_its_stream_would_take() -> None:
    first, *rest = steps(Chat("a b c", gap_s=0.5), NOTHING_SPECIAL)

    assert first == Wait(1.0)
    assert not waits(rest)


@pytest.mark.parametrize("text", ["", "one"])
def test_unary_answer_of_one_word_is_not_held_back(text: str) -> None:
    assert not waits(list(steps(Chat(text, gap_s=0.5), NOTHING_SPECIAL)))


def test_split_events_leave_turn_by_turn() -> None:
    played = list(steps(Events((b"abcde",), then="end", split=2), NOTHING_SPECIAL))

    assert played[1:] == [b"2\r\nab\r\n", Wait(0), b"2\r\ncd\r\n", Wait(0), b"1\r\ne\r\n", b"0\r\n\r\n", End.KEEP]


def test_empty_event_sends_nothing_and_does_not_end_the_message() -> None:
    played = list(steps(Events((b"", b"a"), then="cut"), NOTHING_SPECIAL))

    assert [step for step in played[1:] if step] == [b"1\r\na\r\n", End.CLOSE]


def test_chunk_states_its_length_in_hexadecimal() -> None:
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"


@pytest.mark.parametrize("status", [204, 304])
def test_bodiless_status_has_neither_body_nor_length(status: int) -> None:
    first, _ = steps(Status(status), NOTHING_SPECIAL)

    assert isinstance(first, bytes)
    assert first.endswith(b"\r\n\r\n")
    assert b"content-length" not in first


@pytest.mark.parametrize(("status", "line"), [(503, b"503 Service Unavailable"), (529, b"529 Unknown")])
def test_status_line_has_a_reason(status: int, line: bytes) -> None:
    assert head(status, ()) == b"HTTP/1.1 %b\r\n\r\n" % line


def test_given_header_replaces_the_usual_one_in_any_case() -> None:
    assert head(200, (("a", "1"), ("b", "2")), (("A", "3"),)) == b"HTTP/1.1 200 OK\r\nb: 2\r\nA: 3\r\n\r\n"


@pytest.mark.parametrize(("stated", "written"), [(2, b"2"), (0.5, b"0.5"), ("Wed, 21 Oct 2026 07:28:00 GMT", b"Wed, ")])
def test_retry_after_is_seconds_or_text(stated: float | str, written: bytes) -> None:
    first, _ = steps(Status(429, retry_after=stated), NOTHING_SPECIAL)

    assert isinstance(first, bytes)
    assert b"\r\nretry-after: " + written in first


def test_truncated_body_may_send_nothing_of_it() -> None:
    first, _ = steps(Truncated(sent_bytes=0), NOTHING_SPECIAL)

    assert isinstance(first, bytes)
    assert first.endswith(b"\r\n\r\n")
