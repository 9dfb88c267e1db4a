"""One request on its way: builds every attempt, and writes the answer that came of it."""

from collections.abc import Awaitable

from pointsman.dialects.bridges.bridge import PASSED_ON, bridge_to, surroundings
from pointsman.dialects.codec import Codec, ParsedRequest
from pointsman.dialects.unsigned_thoughts import without_unsigned_thoughts
from pointsman.domain.derived import derived
from pointsman.domain.errors import GatewayError
from pointsman.domain.holder import Holder
from pointsman.domain.opinion import Told
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import Timeouts
from pointsman.domain.preferences import Demands
from pointsman.domain.price import cost_usd
from pointsman.domain.request import Dialect
from pointsman.domain.target import Provider, Target
from pointsman.http1.client import WireFailure
from pointsman.http1.door import Request
from pointsman.http1.limits import AttemptLimits
from pointsman.http1.reply import Reply
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy import explain_header, reply_headers
from pointsman.proxy.answer import OK
from pointsman.proxy.bridged import BridgedStream, BridgedUnary
from pointsman.proxy.parts import Parts
from pointsman.proxy.streaming import StreamAnswer
from pointsman.proxy.unary import UnaryAnswer
from pointsman.routing.exchange import Consult, Exchange, Finish
from pointsman.signals.target_state import Lease
from pointsman.upstream import request as upstream_request

_COMMENT = b": keepalive\n\n"


class Call:
    """What stays the same over all attempts of a request."""

    def __init__(
        self, parts: Parts, codec: Codec, request: Request, reply: Reply, exchange: Exchange, parsed: ParsedRequest,
        shows_details: bool,  # noqa: FBT001
    ) -> None:  # fmt: skip
        self._parts, self._codec, self._request, self._reply = parts, codec, request, reply
        self._exchange, self._parsed, self._shows_details = exchange, parsed, shows_details
        self.answer: UnaryAnswer | StreamAnswer | None = None  # of the latest attempt
        self.explains = False  # the caller wants to read the decision
        self._is_judged = False  # somebody reads the answer when it has left
        self._dropped: tuple[str, ...] = ()  # parameters that the target's dialect has no place for

    def send(self, target: Target, lease: Lease) -> Awaitable[WireFailure | None]:
        """Begin an attempt; `conclude` what comes of it. No coroutine of its own: each one costs on every wake-up."""
        parts, codec, facts = self._parts, self._codec, self._parsed.facts
        if codec.dialect not in target.dialects:
            return self._send_over_bridge(target, lease)
        self._dropped = ()
        provider = self._exchange.ask.snapshot.providers[target.provider]
        if facts.stream:
            answer: UnaryAnswer | StreamAnswer = StreamAnswer(
                codec, parts.limits, parts.clock, self._reply, self._stream_head, facts, provider, lease
            )
        else:
            answer = UnaryAnswer(codec, parts.limits, parts.clock, provider, lease)
        self._listen(answer)
        body = codec.write_request(self._parsed, target.upstream_model)
        if provider.checks_signatures:
            body = without_unsigned_thoughts(body)
        return self._sent(provider, codec.path, body, codec.passed_on, answer)

    def _send_over_bridge(self, target: Target, lease: Lease) -> Awaitable[WireFailure | None]:
        """The same, to a target that speaks another dialect."""
        parts, parsed, facts = self._parts, self._parsed, self._parsed.facts
        provider = self._exchange.ask.snapshot.providers[target.provider]
        bridge = bridge_to(target, facts.dialect)
        around = surroundings(parsed, parts.clock.utc())
        if facts.stream:
            answer: UnaryAnswer | StreamAnswer = BridgedStream(
                bridge, around, self._codec, parts.limits, parts.clock, self._reply, self._stream_head, facts,
                provider, lease,
            )  # fmt: skip
        else:
            answer = BridgedUnary(bridge, around, parts.limits, parts.clock, provider, lease)
        self._listen(answer)
        self._dropped = _dropped(self._exchange.ask.demands, bridge.codec.dialect)
        body = bridge.write_request(parsed, target.upstream_model, target.traits.max_output_tokens)
        return self._sent(provider, bridge.codec.path, body, PASSED_ON, answer)

    def _listen(self, answer: UnaryAnswer | StreamAnswer) -> None:
        """From now on this is the answer."""
        self.answer = answer
        self._is_judged = self._parsed.facts.tool_count > 0 and self._parts.tool_judge.listens(
            self._parsed, self._exchange.current
        )
        if self._is_judged:
            answer.overhear()

    def _sent(
        self, provider: Provider, path: str, body: bytes, passed_on: tuple[bytes, ...],
        answer: UnaryAnswer | StreamAnswer,
    ) -> Awaitable[WireFailure | None]:  # fmt: skip
        """`passed_on`: of the caller's headers only these go on."""
        facts = self._parsed.facts
        request = upstream_request.build(provider, path, body, facts.stream, self._request.head.headers, passed_on)
        limits = _limits(provider.timeouts, facts.stream, facts.reasoning)
        return self._parts.upstream.send(provider, request, answer, limits, self._exchange.deadline)

    def consult(self, command: Consult) -> Awaitable[Told]:
        """Ask the policy service of the current group."""
        service = self._exchange.ask.snapshot.services[command.question.group]
        return self._parts.policies.ask(service, command, self._parsed.body, self._exchange.deadline)

    def conclude(self, failure: WireFailure | None) -> Outcome:
        """How the attempt ended; a committed stream gets its end here."""
        if self.answer is None:
            raise RuntimeError("an attempt was concluded that had never begun")
        outcome = self.answer.conclude(failure)
        if self.answer.kept:
            self._remember(self.answer.kept)
        if self._is_judged and outcome.outcome_class is OutcomeClass.OK:
            target, group = self._exchange.picks[-1].target, self._exchange.current
            self._parts.tool_judge.note(self._parsed, target, group, self.answer.heard)
        return outcome

    def _remember(self, kept: tuple[str, ...]) -> None:
        """What builds on this answer, or asks for it later, goes to the same target."""
        exchange, target = self._exchange, self._exchange.picks[-1].target
        holder = Holder(target.state_key, target.provider, exchange.group.name)
        self._parts.holders.keep(exchange.ask.caller.name, kept, holder)

    def abandoned(self, detail: str) -> Outcome:
        """The outcome of an attempt that was cut off: it says nothing about the target."""
        if self.answer is None:
            return Outcome(OutcomeClass.CALLER_GONE, detail)
        if self.answer.kept:
            self._remember(self.answer.kept)
        return self.answer.gone(detail)

    def finish(self, finish: Finish) -> None:
        """Write what has not been written yet: a whole answer, or an error."""
        if self._reply.is_finished:
            return
        if finish.error is not None:
            self.fail(finish.error)
        elif isinstance(self.answer, UnaryAnswer):
            head = self._head(reply_headers.JSON, self.answer.head)
            price = self._exchange.picks[-1].target.price
            if price is not None and self._shows_details:
                head += reply_headers.cost_line(cost_usd(price, self.answer.usage))  # of a stream it comes too late
            self._reply.send(OK, head, self.answer.body)

    def fail(self, error: GatewayError) -> None:
        """The gateway cannot go on: an honest error, in the stream if one has begun."""
        reply, answer = self._reply, self.answer
        if not reply.is_started:
            self._send_error(error)
        elif reply.is_finished:
            return
        elif isinstance(answer, StreamAnswer) and answer.is_committed:
            answer.end_with_error(error)
        else:  # comments, and nothing of any attempt
            nothing_yet = self._codec.decoder(self._parts.limits.event_bytes)
            reply.write(self._codec.write_stream_error(error, nothing_yet))
            reply.finish()

    def keep_alive(self) -> None:
        """Tell the caller of a stream that there is still somebody: by a comment, which commits to nothing."""
        if self._reply.is_finished:
            return
        if not self._reply.is_started:
            self._reply.start(OK, self._early_head())
        self._reply.write(_COMMENT)

    def _send_error(self, error: GatewayError) -> None:
        head = self._head(reply_headers.JSON, None, error.code or "") + reply_headers.retry_lines(error)
        codec = self._codec
        self._reply.send(codec.status_of(error), head, codec.write_error(error, self._exchange.ask.request_id))

    def _stream_head(self) -> bytes:
        return self._head(reply_headers.EVENT_STREAM, self.answer.head if self.answer is not None else None)

    def _early_head(self) -> bytes:
        """Before it is known who will serve."""
        exchange = self._exchange
        who = reply_headers.who(exchange.current.name, None, None, self._shows_details)
        return reply_headers.lines(
            reply_headers.EVENT_STREAM, exchange.ask.request_id, len(exchange.picks), who, "", b""
        )

    def _head(self, content_type: bytes, upstream: ResponseHead | None, reason: str = "") -> bytes:
        """Header lines: who served, which rule picked it, and what had gone wrong before."""
        exchange, shows_details = self._exchange, self._shows_details
        picks = exchange.picks
        if self._dropped:
            content_type += reply_headers.dropped_line(self._dropped)
        if self.explains and shows_details:
            content_type += explain_header.lines(exchange, self._parts.board, self._parts.clock.now())
        if picks:
            pick = picks[-1]
            who = reply_headers.who(exchange.current.name, pick.target, pick.mode, shows_details)
        else:
            who = reply_headers.who(exchange.current.name, None, None, shows_details)
        if len(picks) != 1 or reason:  # else nothing can have gone wrong before
            reason = exchange.last_failure or reason
        limits = upstream.headers.lines_of(self._codec.limit_headers) if upstream is not None else b""
        return reply_headers.lines(
            content_type, exchange.ask.request_id, len(picks), who, reason if shows_details else "", limits
        )


@derived(maxsize=4096)
def _limits(timeouts: Timeouts, stream: bool, reasoning: bool) -> AttemptLimits:  # noqa: FBT001  # a cache key
    """A unary answer is silent until it is complete, as reasoning is: both get the longer limit."""
    return AttemptLimits(
        connect_s=timeouts.connect_s,
        first_content_s=timeouts.first_content_reasoning_s if reasoning or not stream else timeouts.first_content_s,
        idle_s=timeouts.idle_reasoning_s if reasoning else timeouts.idle_s,
    )


def _dropped(demands: Demands | None, into: Dialect) -> tuple[str, ...]:
    """Parameters that a request loses on its way: the group allows it, or the target would not be eligible."""
    uncarried = demands.uncarried if demands is not None else None
    return next((loss.parameters for loss in uncarried or () if loss.into == into), ())
