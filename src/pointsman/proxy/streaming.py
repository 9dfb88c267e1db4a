"""A streamed answer: events are relayed whole and unchanged; the first content commits it.

Until then everything is held back and any failure can fail over. After it there is no failover: the stream ends
with its own terminator, or with the dialect's error event, never with a bare cut and never with a fake stop.
"""

import asyncio
from collections.abc import Callable

from pointsman.dialects.codec import PLAIN_EVENT, Codec, EventFacts
from pointsman.dialects.overheard import Overheard
from pointsman.dialects.sse import EventTooLargeError, SseEvent
from pointsman.domain.errors import ErrorKind, GatewayError, ProviderFaultError
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.ports import Clock
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import Provider, Terminator
from pointsman.http1.client import WireFailure, WireFault
from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.reply import ReadFlow, Reply
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy.answer import OK, BaseAnswer, Fault, wire_fault
from pointsman.signals.target_state import Lease


class StreamAnswer(BaseAnswer):
    """Relays inside `data_received`: no task, no queue; a slow caller pauses the upstream."""

    def __init__(
        self,
        codec: Codec,
        limits: UpstreamLimits,
        clock: Clock,
        reply: Reply,
        head: Callable[[], bytes],
        facts: RequestFacts,
        provider: Provider,
        lease: Lease,
    ) -> None:
        super().__init__(codec, limits, clock, provider, lease)
        self._waited = lease
        self._reply, self._head, self._wants_usage = reply, head, facts.wants_usage
        self._is_lenient = provider.terminator is Terminator.LENIENT
        self._decoder = codec.decoder(limits.event_bytes)
        self._flow: ReadFlow | None = None
        self._is_stream = False
        self.is_committed = False  # content has gone to the caller; a head and comments may have gone before
        self._held: list[bytes] = []  # until the first content
        self._held_bytes = 0
        self._finish_reason: str | None = None
        self._terminator = b""  # as it came; held back until the message itself has ended, too
        self._stream_fault: Fault | None = None

    def overhear(self) -> None:
        """Keep what is said, for somebody who reads it later."""
        self._decoder = Overheard(self._decoder)

    @property
    def heard(self) -> tuple[bytes, ...]:
        return tuple(self._decoder.heard) if isinstance(self._decoder, Overheard) else ()

    # --- called by the connection

    def bind(self, flow: ReadFlow, done: "asyncio.Future[WireFailure | None]") -> None:
        super().bind(flow, done)
        self._flow = flow

    def on_head(self, head: ResponseHead) -> None:
        super().on_head(head)
        content_type = head.get(b"content-type") or b""
        is_stream = head.status == OK and content_type.lower().startswith(b"text/event-stream")
        self._is_stream = is_stream and not head.is_encoded

    def on_data(self, data: bytes) -> None:
        if self.done.done():
            return
        if not self._is_stream:
            self._collect(data, self.limits.error_bytes)
            return
        try:
            self._relay(self._decoder.feed(data))
        except EventTooLargeError:
            self._settle(WireFailure(WireFault.TOO_LARGE, got_bytes=True))

    def on_end(self) -> None:
        if self._is_stream and not self.done.done():
            self._relay(self._decoder.close())
        super().on_end()

    # --- relaying

    def _relay(self, events: list[SseEvent]) -> None:
        kept = [event.raw for event in events if self._keeps(event)]
        if not kept:
            return
        if self.is_committed:
            self._reply.write(b"".join(kept))
            if self._reply.bytes_sent > self.limits.stream_bytes:
                self._settle(WireFailure(WireFault.TOO_LARGE, got_bytes=True))
            return
        self._held += kept
        self._held_bytes += sum(map(len, kept))
        if self.has_content:
            self._commit()
        elif self._held_bytes > self.limits.held_bytes:
            self._settle(WireFailure(WireFault.TOO_LARGE, got_bytes=True))

    def _keeps(self, event: SseEvent) -> bool:
        """Whether the event goes on to the caller; what it says is noted on the way."""
        if self._stream_fault is not None or self._terminator:
            return False  # the answer is over: nothing after its end counts
        if event.data is None:
            return True
        facts = self.codec.read_event(event.data, before_visible=self._visible_s is None)
        return True if facts is PLAIN_EVENT else self._note(facts, event)

    def _note(self, facts: EventFacts, event: SseEvent) -> bool:
        if facts.is_malformed:
            self._break(Fault(OutcomeClass.BAD_PAYLOAD, "malformed_event"))
            return False
        if facts.usage is not None:
            self.usage = facts.usage if self.usage is None else self.codec.usage_after(self.usage, facts.usage)
        self._finish_reason = facts.finish_reason or self._finish_reason
        if facts.error is not None:
            self._break(self._in_band(facts.error))
            return False
        if facts.kept:
            self.kept = facts.kept
        if facts.is_terminator:
            self._terminator = event.raw
            return False
        if facts.has_content:
            self._note_content(is_visible=not facts.is_reasoning)
        return self._wants_usage or not facts.is_usage_only

    def _note_content(self, *, is_visible: bool) -> None:
        after_s = self._clock.now() - self._began_at
        if is_visible:
            self._visible_s = after_s
        if not self.has_content:
            self.has_content = True
            self._ttft_s = after_s
            self._waited.answered()

    def _break(self, fault: Fault) -> None:
        self._stream_fault = fault
        self._settle(None)

    def _commit(self) -> None:
        """From here on the caller has content: the answer belongs to this target."""
        self._reply.flow = self._flow
        self.is_committed = True
        if not self._reply.is_started:
            self._reply.start(OK, self._head())
        self._reply.write(b"".join(self._held))
        self._held = []

    # --- the end

    def conclude(self, failure: WireFailure | None) -> Outcome:
        """How the attempt ended; a committed answer gets its end here."""
        fault = self._fault(failure)
        if fault is None:
            if not self.is_committed:
                self._commit()  # complete, and rightly without content (B-16)
            self._reply.write(self._terminator or self.codec.write_terminator())
            self._reply.finish()
        elif self.is_committed:
            fault = Fault(OutcomeClass.BROKEN_STREAM, fault.detail, fault.error)
            self.end_with_error(_error_of(fault))
        return self._outcome(fault, committed=self.is_committed)

    def end_with_error(self, error: GatewayError) -> None:
        """The honest end of an answer that has begun."""
        self._reply.write(self.codec.write_stream_error(error, self._decoder))
        self._reply.finish()

    def _fault(self, failure: WireFailure | None) -> Fault | None:
        if self._stream_fault is not None:
            return self._stream_fault
        if failure is not None:
            return wire_fault(failure)
        if self.head is None or self.head.status != OK:
            return self._refused()
        if self.head.is_encoded:
            return Fault(OutcomeClass.BAD_PAYLOAD, "encoded")
        if not self._is_stream:
            return Fault(OutcomeClass.BAD_PAYLOAD, "not_a_stream")
        if not self._terminator and not (self._is_lenient and self._finish_reason):
            return Fault(OutcomeClass.BROKEN_STREAM, "no_terminator")
        if not self.has_content and self._is_empty():
            return Fault(OutcomeClass.BAD_PAYLOAD, "empty")
        return None

    def _is_empty(self) -> bool:
        """No content, and no sign that the model meant to say nothing."""
        if self._finish_reason is None:
            return True
        return (
            self._finish_reason == self.codec.natural_end and self.usage is not None and self.usage.output_tokens == 0
        )


def _error_of(fault: Fault) -> GatewayError:
    if fault.error is not None:
        error = fault.error
        return ProviderFaultError(error.message, type_=error.type, code=error.code, param=error.param)
    message = f"The upstream broke the answer off after it had begun ({fault.detail}); what came so far is incomplete."
    return GatewayError(ErrorKind.UPSTREAM_ERROR, message)
