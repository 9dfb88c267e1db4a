"""A whole answer: nothing reaches the caller before it is complete and read, so any failure can fail over."""

from pointsman.dialects.codec import AnswerFacts
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.http1.client import WireFailure
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy.answer import OK, BaseAnswer, Fault, wire_fault


class UnaryAnswer(BaseAnswer):
    """Collects the body."""

    @property
    def body(self) -> bytes:
        return b"".join(self._parts)

    def overhear(self) -> None:
        """It is kept as it is."""

    @property
    def heard(self) -> tuple[bytes, ...]:
        return (self.body,)

    def on_data(self, data: bytes) -> None:
        self.has_content = True
        self._collect(data, self.limits.unary_bytes)

    def conclude(self, failure: WireFailure | None) -> Outcome:
        """How the attempt ended."""
        if failure is not None:
            return self._outcome(wire_fault(failure), committed=False)
        if self.head is None or self.head.status != OK:
            return self._outcome(self._refused(), committed=False)
        self._ttft_s = self._clock.now() - self._began_at
        facts = self.codec.read_answer(self.body)
        self.usage, self.kept = facts.usage, facts.kept
        return self._outcome(self._fault_of(facts, self.head), committed=False)

    def _fault_of(self, facts: AnswerFacts, head: ResponseHead) -> Fault | None:
        if facts.error is not None:
            return self._in_band(facts.error)
        if facts.fault is None:
            return None
        return Fault(OutcomeClass.BAD_PAYLOAD, "encoded" if head.is_encoded else facts.fault)
