"""`POST /v1/messages/count_tokens`: counted by the provider that would be asked now, else estimated, never refused.

Clients that get no count send a paid probe instead. A count costs nothing and says nothing about a target, so it
leaves no record, no signal and no trace in the order of turns.
"""

import asyncio

import msgspec
from msgspec import Struct, structs
from msgspec.json import Decoder

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.text_size import with_text_size
from pointsman.dialects.unsigned_thoughts import without_unsigned_thoughts
from pointsman.domain.ask import Ask
from pointsman.domain.decision import DecisionMode, Picked
from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.request import Caller, Dialect
from pointsman.http1.door import Request
from pointsman.http1.limits import AttemptLimits
from pointsman.http1.reply import Reply
from pointsman.proxy import closer, reply_headers
from pointsman.proxy.answer import OK
from pointsman.proxy.codings import decoded
from pointsman.proxy.handler import nested_too_deeply, request_id_of, stopping
from pointsman.proxy.parts import Parts
from pointsman.proxy.unary import UnaryAnswer
from pointsman.routing import resolve, retry
from pointsman.routing.router import decide
from pointsman.upstream import request as upstream_request

CODEC = DIALECTS[Dialect.ANTHROPIC_MESSAGES]
PATH = f"{CODEC.path}/count_tokens"
PATIENCE_S = 3.0  # an agent waits for the count before it goes on: an estimate now is worth more
_LIMITS = AttemptLimits(connect_s=PATIENCE_S, first_content_s=PATIENCE_S, idle_s=PATIENCE_S)


class _Count(Struct):
    input_tokens: int


_decode_count = Decoder(_Count).decode


class CountHandler:
    """Serves the one path."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def serve(self, request: Request, reply: Reply, caller: Caller) -> None:
        """Read, resolve, count."""
        snapshot, request_id = self._parts.live.snapshot, request_id_of(request.head)
        shows_details = snapshot.tells(caller, is_local=request.is_local)
        try:
            body, coding = request.body, request.head.headers.get(b"content-encoding")
            if coding is not None:
                body = await decoded(body, coding, self._parts.live.body_limit_bytes)
            parsed = CODEC.read_request(body)
            ask = Ask(request_id, caller, parsed.facts, snapshot)
            headers, body = await self._counted(request, ask, parsed, shows_details=shows_details)
            reply.send(OK, headers, body)
        except GatewayError as error:
            _fail(error, request_id, reply, shows_details=shows_details)
        except RecursionError:
            _fail(nested_too_deeply(), request_id, reply, shows_details=shows_details)
        except asyncio.CancelledError:
            _fail(stopping(), request_id, reply, shows_details=shows_details)
            raise

    async def _counted(
        self, request: Request, ask: Ask, parsed: ParsedRequest, *, shows_details: bool
    ) -> tuple[bytes, bytes]:
        """Header lines and body. Raises GatewayError when the provider says what is wrong with the request."""
        parts, now, headers = self._parts, self._parts.clock.now(), request.head.headers
        group = resolve.group_for(ask)
        if closer.is_needed(group, parsed, ask.caller, headers):
            ask = closer.look(ask, group, CODEC, parsed, headers, parts.clock.utc())
        lengths = parts.board.expected(group, structs.replace(ask, facts=with_text_size(ask.facts, parsed.body)), now)
        pick = decide(ask, group, parts.board.view(group, now), rng=parts.rng, lengths=lengths).pick
        counted = None if pick is None else await self._asked(request, ask, pick, parsed)
        if pick is None or counted is None:
            who = reply_headers.who(group.name, None, None, shows_details)
            reason = "estimated" if shows_details else ""
            told = reply_headers.lines(reply_headers.JSON, ask.request_id, 0, who, reason, b"")
            return told, msgspec.json.encode({"input_tokens": max(lengths.input_tokens)})
        who = reply_headers.who(group.name, pick.target, pick.mode, shows_details)
        return reply_headers.lines(reply_headers.JSON, ask.request_id, 1, who, "", b""), counted

    async def _asked(self, request: Request, ask: Ask, pick: Picked, parsed: ParsedRequest) -> bytes | None:
        """What the provider says; None: it does not count, or not now. Raises GatewayError as above."""
        parts, target = self._parts, pick.target
        provider = ask.snapshot.providers[target.provider]
        is_probe = pick.mode is DecisionMode.PROBE  # which is for a request that counts
        if CODEC.dialect not in target.dialects or not provider.counts_tokens or is_probe:
            return None
        answer = UnaryAnswer(CODEC, parts.limits, parts.clock, provider)
        body = CODEC.write_request(parsed, target.upstream_model)
        if provider.checks_signatures:
            body = without_unsigned_thoughts(body)
        headers = request.head.headers
        message = upstream_request.build(provider, PATH, body, False, headers, CODEC.passed_on)
        failure = await parts.upstream.send(provider, message, answer, _LIMITS, request.received_at + PATIENCE_S)
        if failure is None and answer.status == OK:
            return answer.body if _is_count(answer.body) else None
        outcome = answer.conclude(failure)
        if outcome.outcome_class is OutcomeClass.CALLER_FAULT:
            raise retry.refusal(outcome)
        return None


def _fail(error: GatewayError, request_id: str, reply: Reply, *, shows_details: bool) -> None:
    headers = reply_headers.error_lines(request_id, error, shows_details=shows_details)
    reply.send(CODEC.status_of(error), headers, CODEC.write_error(error, request_id))


def _is_count(body: bytes) -> bool:
    try:
        return _decode_count(body).input_tokens >= 0
    except UNREADABLE:
        return False
