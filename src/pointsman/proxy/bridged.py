"""Answers of targets that speak another dialect than the caller's."""

from collections.abc import Callable

from pointsman.dialects.bridges.bridge import Bridge, Surroundings
from pointsman.dialects.codec import Codec, EventFacts
from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.sse import SseEvent
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.ports import Clock
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import Provider
from pointsman.http1.client import WireFailure
from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.reply import Reply
from pointsman.proxy.answer import Fault
from pointsman.proxy.streaming import StreamAnswer
from pointsman.proxy.unary import UnaryAnswer
from pointsman.signals.target_state import Lease


class BridgedUnary(UnaryAnswer):
    """Judged in the dialect of the target, then carried into the caller's."""

    def __init__(
        self,
        bridge: Bridge,
        around: Surroundings,
        limits: UpstreamLimits,
        clock: Clock,
        provider: Provider,
        lease: Lease,
    ) -> None:
        super().__init__(bridge.codec, limits, clock, provider, lease)
        self._bridge, self._around = bridge, around

    def conclude(self, failure: WireFailure | None) -> Outcome:
        outcome = super().conclude(failure)
        if outcome.outcome_class is not OutcomeClass.OK:
            return outcome
        try:
            self._parts = [self._bridge.answer(self.body, self._around)]
        except UNREADABLE:
            return self._outcome(Fault(OutcomeClass.BAD_PAYLOAD, "malformed"), committed=False)
        return outcome


class BridgedStream(StreamAnswer):
    """Relays what its decoder has carried over; only tokens are counted as the target counted them."""

    def __init__(
        self, bridge: Bridge, around: Surroundings, codec: Codec, limits: UpstreamLimits, clock: Clock, reply: Reply,
        head: Callable[[], bytes], facts: RequestFacts, provider: Provider, lease: Lease,
    ) -> None:  # fmt: skip
        super().__init__(codec, limits, clock, reply, head, facts, provider, lease)
        self._bridge_decoder = bridge.decoder(limits.event_bytes, around, is_lenient=self._is_lenient)
        self._decoder = self._bridge_decoder

    def _note(self, facts: EventFacts, event: SseEvent) -> bool:
        is_kept = super()._note(facts, event)
        self.usage = self._bridge_decoder.usage
        return is_kept
