"""What both kinds of answer share: the head, the times, and what a failed one means."""

import asyncio

from pointsman.dialects.codec import Codec
from pointsman.domain.outcome import Outcome, OutcomeClass, ProviderError, ToldLimit, Usage
from pointsman.domain.ports import Clock
from pointsman.domain.target import Provider
from pointsman.domain.value import Value
from pointsman.http1.client import WireFailure, WireFault
from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.reply import ReadFlow
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy.scrub import without_secrets
from pointsman.routing import limit_headers
from pointsman.routing.outcomes import Verdict, verdict, verdict_in_band
from pointsman.routing.retry_after import retry_after_s
from pointsman.signals.target_state import Lease
from pointsman.upstream.faults import CLASS_BY_FAULT

OK = 200
_SERVED = OutcomeClass.OK  # an attribute of an enumeration is searched for each time


class Fault(Value):
    """Why an answer is no success."""

    outcome_class: OutcomeClass
    detail: str
    error: ProviderError | None = None
    confirmed: bool = False


class BaseAnswer:
    """Takes one upstream answer; `conclude` says how it ended."""

    done: "asyncio.Future[WireFailure | None]"  # from bind on
    kept: tuple[str, ...] = ()  # keys of what the provider keeps, for later requests to build on

    def __init__(
        self, codec: Codec, limits: UpstreamLimits, clock: Clock, provider: Provider, lease: Lease | None = None
    ) -> None:
        self.codec, self.limits, self._clock, self._provider, self._lease = codec, limits, clock, provider, lease
        self._began_at = clock.now()
        self.has_content = False
        self.head: ResponseHead | None = None
        self.usage: Usage | None = None
        self._ttfb_s: float | None = None
        self._ttft_s: float | None = None
        self._visible_s: float | None = None
        self._parts: list[bytes] = []  # of a body that is read as a whole
        self._body_bytes = 0

    def bind(self, flow: ReadFlow, done: "asyncio.Future[WireFailure | None]") -> None:
        """The connection the answer comes over; a second call means that the request was sent anew."""
        self.done = done

    @property
    def status(self) -> int | None:
        return self.head.status if self.head is not None else None

    def on_head(self, head: ResponseHead) -> None:
        self.head = head
        self._ttfb_s = self._clock.now() - self._began_at

    def on_end(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def on_failure(self, failure: WireFailure) -> None:
        self._settle(failure)

    def _settle(self, failure: WireFailure | None) -> None:
        if not self.done.done():
            self.done.set_result(failure)

    def _collect(self, data: bytes, limit_bytes: int) -> None:
        self._parts.append(data)
        self._body_bytes += len(data)
        if self._body_bytes > limit_bytes:
            self._settle(WireFailure(WireFault.TOO_LARGE, got_bytes=True))

    def _refused(self) -> Fault:
        """The fault of an answer whose status is not 200."""
        status = self.status or 0
        error = self.codec.read_error(status, b"".join(self._parts))
        return self._told_fault(verdict(status, error), f"status_{status}", error)

    def _in_band(self, error: ProviderError) -> Fault:
        """The fault of an answer with status 200 that says itself that it is none."""
        return self._told_fault(verdict_in_band(error), "in_band_error", error)

    def _told_fault(self, found: Verdict, detail: str, error: ProviderError) -> Fault:
        return Fault(found.outcome_class, detail, without_secrets(error, self._provider), found.confirmed)

    def _outcome(self, fault: Fault | None, *, committed: bool) -> Outcome:
        now = self._clock.now()
        ttfb_s, ttft_s, duration_s = self._ttfb_s, self._ttft_s, now - self._began_at
        if fault is None:
            told = self._told() if self._lease is None or self._lease.state.wants_limits(now) else ()
            return Outcome(
                _SERVED, "", OK, None, False, None, committed, ttfb_s, ttft_s, duration_s, self.usage, told,
                self._visible_s,
            )  # fmt: skip
        return Outcome(
            fault.outcome_class, fault.detail, self.status, fault.error, fault.confirmed, self._retry_after_s(),
            committed, ttfb_s, ttft_s, duration_s, self.usage, self._told(), self._visible_s,
        )  # fmt: skip

    def gone(self, detail: str) -> Outcome:
        """The caller left, or the gateway ends: says nothing about the target."""
        return self._outcome(Fault(OutcomeClass.CALLER_GONE, detail), committed=self.has_content)

    def _told(self) -> tuple[ToldLimit, ...]:
        if self.head is None:
            return ()
        return limit_headers.told_limits(self.head.headers.lowered, self.head.get, self._clock.utc())

    def _retry_after_s(self) -> float | None:
        if self.head is None:
            return None
        seconds, milliseconds = self.head.get(b"retry-after"), self.head.get(b"retry-after-ms")
        if seconds is None and milliseconds is None:
            return None
        return retry_after_s(
            None if seconds is None else seconds.decode("latin-1"),
            None if milliseconds is None else milliseconds.decode("latin-1"),
            self._clock.utc(),
        )


def wire_fault(failure: WireFailure) -> Fault:
    return Fault(CLASS_BY_FAULT[failure.fault], failure.fault.value)
