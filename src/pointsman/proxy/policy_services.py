"""Asks policy services, with the client that asks providers: one POST, a short answer, and no request ever hangs."""

import asyncio
import logging
from collections.abc import Collection, Mapping

import msgspec
from msgspec import Struct, structs

from pointsman.domain.opinion import FallbackReason, Question, Told
from pointsman.domain.policy import External
from pointsman.domain.ports import Clock
from pointsman.domain.target import Provider
from pointsman.http1.client import WireFailure, WireFault
from pointsman.http1.header_block import HeaderBlock
from pointsman.http1.limits import AttemptLimits
from pointsman.http1.reply import ReadFlow
from pointsman.http1.response_head import ResponseHead
from pointsman.observability.metrics import Metrics
from pointsman.routing.exchange import Consult
from pointsman.routing.opinions import BadAnswerError, read_answer
from pointsman.signals.circuit import PAUSE_S, Circuit
from pointsman.upstream import request as upstream_request
from pointsman.upstream.client import Upstream

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 256 * 1024  # scores of a thousand targets have a fifth of that
ANSWERED = "ok"
_OK = 200
_NO_HEADERS = HeaderBlock(b"\r\n")
_encode = msgspec.json.Encoder(order="deterministic").encode  # tags have no order


class _WithRequest(Question, frozen=True, kw_only=True):
    request: msgspec.Raw  # as the caller wrote it


class _Scores(Struct):
    """One of both."""

    scores: dict[str, float] | None = None
    order: list[str] | None = None


_decode = msgspec.json.Decoder(_Scores).decode


class PolicyServices:
    """One circuit per group."""

    def __init__(self, upstream: Upstream, metrics: Metrics, clock: Clock) -> None:
        self._upstream, self._metrics, self._clock = upstream, metrics, clock
        self._circuits: dict[str, Circuit] = {}  # by group; bounded by `keep`

    def keep(self, groups: Collection[str]) -> None:
        """Forget all other groups."""
        self._circuits = {name: circuit for name, circuit in self._circuits.items() if name in groups}

    async def ask(self, service: Provider, command: Consult, body: bytes, deadline: float) -> Told:
        """What the service says, at most until `deadline` (monotonic seconds). `body`: of the request."""
        question, external = command.question, command.external
        group, circuit = question.group, self._circuits.setdefault(question.group, Circuit())
        if not circuit.begin(self._clock.now()):
            return self._counted(group, FallbackReason.CIRCUIT_OPEN)
        answer, message = _Answer(), _message(service, question, body, external)
        failure = await self._send(service, message, answer, external, deadline)
        told = answer.told(failure, [candidate.id for candidate in question.candidates])
        if circuit.ended(self._clock.now(), well=not isinstance(told, FallbackReason)):
            text = "the policy service of %s, %s, is not asked for %g s: its last answers were useless, or late"
            log.warning(text, group, external.authority, PAUSE_S, extra={"fields": {"group": group}})
        return self._counted(group, told)

    async def _send(
        self, service: Provider, message: bytes, answer: "_Answer", external: External, deadline: float
    ) -> WireFailure | None:
        """The watchdog's ticks are too coarse for such a budget: it has a timer of its own."""
        limits = AttemptLimits(external.timeout_s, external.timeout_s, external.timeout_s)
        try:
            async with asyncio.timeout(min(external.timeout_s, deadline - self._clock.now())):
                return await self._upstream.send(service, message, answer, limits, deadline)
        except TimeoutError:
            return WireFailure(WireFault.TIMEOUT_TOTAL)

    def _counted(self, group: str, told: Told) -> Told:
        self._metrics.consulted(group, told if isinstance(told, FallbackReason) else ANSWERED)
        return told


def _message(service: Provider, question: Question, body: bytes, external: External) -> bytes:
    if external.includes_request:
        question = _WithRequest(**structs.asdict(question), request=msgspec.Raw(body))
    return upstream_request.build(service, "", _encode(question), False, _NO_HEADERS, ())


class _Answer:
    """Collects a short body."""

    _done: "asyncio.Future[WireFailure | None]"  # from bind on

    def __init__(self) -> None:
        self.has_content = False
        self._status, self._body = 0, b""

    def bind(self, flow: ReadFlow, done: "asyncio.Future[WireFailure | None]") -> None:
        self._done, self._body = done, b""

    def on_head(self, head: ResponseHead) -> None:
        self._status = head.status

    def on_data(self, data: bytes) -> None:
        self.has_content = True
        self._body += data
        if len(self._body) > MAX_ANSWER_BYTES:
            self._settle(WireFailure(WireFault.TOO_LARGE, got_bytes=True))

    def on_end(self) -> None:
        self._settle(None)

    def on_failure(self, failure: WireFailure) -> None:
        self._settle(failure)

    def told(self, failure: WireFailure | None, ids: Collection[str]) -> Told:
        """The scores, or why there are none."""
        if failure is not None and failure.fault is WireFault.TOO_LARGE:
            return FallbackReason.BAD_ANSWER
        if failure is not None or self._status != _OK:
            return FallbackReason.NO_ANSWER
        try:
            return _read(self._body, ids)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadAnswerError):
            return FallbackReason.BAD_ANSWER

    def _settle(self, failure: WireFailure | None) -> None:
        if not self._done.done():
            self._done.set_result(failure)


def _read(body: bytes, ids: Collection[str]) -> Mapping[str, float]:
    found = _decode(body)
    if (found.scores is None) is (found.order is None):
        raise BadAnswerError("it must have `scores` or `order`")
    return read_answer(found.order if found.scores is None else found.scores, ids)
