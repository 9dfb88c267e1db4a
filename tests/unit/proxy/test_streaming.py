import asyncio

import pytest
from msgspec import structs

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.request import Dialect
from pointsman.http1.header_block import HeaderBlock
from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.reply import Reply
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy.streaming import StreamAnswer
from pointsman.signals.target_state import Lease, TargetState
from pointsman.testing import FakeClock, builders, chat

HEAD = ResponseHead(200, HeaderBlock(b"\r\ncontent-type: text/event-stream\r\n"))
EVENT = chat.sse(chat.chunk(chat.text_delta("x" * 1_000)))


class Sink:
    """Takes what a caller would get."""

    date_line = b""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def abort(self) -> None:
        raise AssertionError("an answer that has begun was cut")

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


@pytest.mark.case("T19")
@pytest.mark.parametrize(("events", "is_too_long"), [(4, False), (5, True)])
def test_stream_above_its_limit_ends_with_an_error(events: int, *, is_too_long: bool) -> None:
    sink = Sink()
    facts = structs.replace(builders.facts(), stream=True)
    lease = Lease(TargetState(), "alice", 0.0, None, is_probe=False)
    codec, limits = DIALECTS[Dialect.OPENAI_CHAT], UpstreamLimits(stream_bytes=4 * len(EVENT))
    reply = Reply(sink, sink, True)
    answer = StreamAnswer(codec, limits, FakeClock(), reply, lambda: b"", facts, builders.provider("a"), lease)
    loop = asyncio.new_event_loop()
    done = loop.create_future()
    loop.close()
    answer.bind(sink, done)
    answer.on_head(HEAD)

    for _ in range(events):
        answer.on_data(EVENT)

    assert done.done() == is_too_long
    if is_too_long:
        outcome = answer.conclude(done.result())
        assert (outcome.outcome_class, outcome.detail) == (OutcomeClass.BROKEN_STREAM, "too_large")
        assert b'"error"' in sink.written
        assert reply.is_finished
