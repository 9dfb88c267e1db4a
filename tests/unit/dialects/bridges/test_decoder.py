"""Any stream on its way over a bridge: comments, ends, and what was counted."""

import pytest

from pointsman.dialects.bridges.bridge import BRIDGES
from pointsman.dialects.sse import EventTooLargeError
from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect
from pointsman.testing import chat, messages, responses
from tests.unit.dialects.bridges.carried import AROUND, CHAT, MESSAGES, RESPONSES, bridge_from, raw, streamed

SAID = (chat.chunk(chat.role_delta()), chat.chunk(chat.text_delta("x")))
PIECE = {
    CHAT: chat.chunk(chat.text_delta("x")),
    MESSAGES: messages.text_delta("x"),
    RESPONSES: responses.text_delta("x"),
}
OPENING = {
    CHAT: (chat.chunk(chat.role_delta()),),
    MESSAGES: (messages.message_start(),),
    RESPONSES: tuple(responses.created()),
}
STOP = chat.chunk({}, finish_reason="stop")


@pytest.mark.bug("E-03")
def test_comments_stay_comments() -> None:
    decoder = bridge_from(MESSAGES).decoder(1_000, AROUND, is_lenient=False)

    (event,) = decoder.feed(b": PROCESSING\n\n")

    assert (event.raw, event.data) == (b": PROCESSING\n\n", None)


@pytest.mark.parametrize(("asked", "spoken"), BRIDGES)
def test_an_answer_that_leaves_its_beginning_out_gets_one(asked: Dialect, spoken: Dialect) -> None:
    found = streamed(asked, PIECE[spoken], spoken=spoken)

    assert "x" in str(found[-1])
    assert len(found) == len(streamed(asked, *OPENING[spoken], PIECE[spoken], spoken=spoken))


@pytest.mark.bug("E-04")
def test_without_a_terminator_there_is_no_end() -> None:
    found = streamed(MESSAGES, *SAID, STOP)

    assert not any(isinstance(event, dict) and event["type"] == "message_delta" for event in found)


def test_where_a_finish_is_enough_it_ends_the_stream_once() -> None:
    for done in ((), (chat.DONE,)):
        found = streamed(MESSAGES, *SAID, STOP, *done, is_lenient=True)

        assert [event["type"] for event in found if isinstance(event, dict)][-2:] == ["message_delta", "message_stop"]
        assert len(found) == 6


def test_nothing_after_the_end_counts() -> None:
    found = streamed(MESSAGES, *SAID, STOP, chat.DONE, *SAID, chat.DONE)

    assert [event["type"] for event in found if isinstance(event, dict)][-1] == "message_stop"
    assert len(found) == 6


def test_where_a_finish_is_enough_there_has_to_be_one() -> None:
    found = streamed(MESSAGES, *SAID, is_lenient=True)

    assert len(found) == 3


def test_usage_is_what_the_provider_counted_and_never_the_estimate() -> None:
    decoder = bridge_from(MESSAGES).decoder(1_000, AROUND, is_lenient=False)

    decoder.feed(raw(SAID, bridge_from(MESSAGES).codec.dialect))
    before = decoder.usage
    decoder.feed(chat.sse(chat.usage_chunk({"prompt_tokens": 9, "completion_tokens": 4})))

    assert (before, decoder.usage) == (None, Usage(9, 4))


def test_an_event_that_does_not_end_is_too_large() -> None:
    decoder = bridge_from(MESSAGES).decoder(10, AROUND, is_lenient=False)

    with pytest.raises(EventTooLargeError):
        decoder.feed(b"data: 123456789")
