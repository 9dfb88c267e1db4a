"""Responses that a provider keeps: read, deleted, cancelled, at the target that made them, by the caller who asked.

Nothing is decided here, so there is no record and no signal. Which target it is was noted when it answered; an id that
was never noted for this caller is a 404, and is not asked for anywhere: it might be somebody else's.
"""

import asyncio
import re
from typing import NamedTuple

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.holder import Holder
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.request import Caller, Dialect
from pointsman.domain.target import Provider
from pointsman.http1.door import Request
from pointsman.http1.limits import AttemptLimits
from pointsman.http1.reply import Reply
from pointsman.proxy import reply_headers
from pointsman.proxy.answer import OK
from pointsman.proxy.handler import request_id_of, stopping
from pointsman.proxy.parts import Parts
from pointsman.proxy.unary import UnaryAnswer
from pointsman.routing import retry
from pointsman.upstream import request as upstream_request

CODEC = DIALECTS[Dialect.OPENAI_RESPONSES]
PATH = f"{CODEC.path}/"
_PLACE = re.compile(re.escape(PATH) + r"([A-Za-z0-9_-]{1,200})(/cancel|/input_items)?")
SERVED = (("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/input_items"))
# what says that the request itself was wrong, or came too late
_REFUSALS = frozenset((OutcomeClass.CALLER_FAULT, OutcomeClass.MISSING, OutcomeClass.CONFLICT, OutcomeClass.BLOCKED))


class _Wish(NamedTuple):
    """What a caller wants done with which response."""

    method: str
    id: str
    target: str  # path below the base URL, and query


class StoredResponses:
    """Serves all paths below `/responses/`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def serve(self, request: Request, reply: Reply, caller: Caller) -> None:
        """Find who keeps it, ask there, answer."""
        request_id, snapshot = request_id_of(request.head), self._parts.live.snapshot
        shows_details = snapshot.tells(caller, is_local=request.is_local)
        try:
            wish = _wish(request)
            holder = self._parts.holders.find(caller.name, (wish.id,))
            provider = None if holder is None else snapshot.providers.get(holder.provider)
            if holder is None or provider is None:
                raise _unknown(wish.id)
            body = await self._asked(wish, holder, provider)
            if wish.method == "DELETE":
                self._parts.holders.forget(caller.name, wish.id)
            who = reply_headers.who(holder.group, None, None, shows_details)
            reply.send(OK, reply_headers.lines(reply_headers.JSON, request_id, 1, who, "", b""), body)
        except GatewayError as error:
            _fail(error, request_id, reply, shows_details=shows_details)
        except asyncio.CancelledError:
            _fail(stopping(), request_id, reply, shows_details=shows_details)
            raise

    async def _asked(self, wish: _Wish, holder: Holder, provider: Provider) -> bytes:
        """What the provider says, as it came. Raises GatewayError."""
        parts, timeouts = self._parts, provider.timeouts
        answer = UnaryAnswer(CODEC, parts.limits, parts.clock, provider)
        limits = AttemptLimits(timeouts.connect_s, timeouts.first_content_s, timeouts.idle_s)
        message = upstream_request.without_body(provider, wish.method, wish.target)
        failure = await parts.upstream.send(provider, message, answer, limits, parts.clock.now() + timeouts.total_s)
        if failure is None and answer.status == OK:
            return answer.body
        raise _error(answer.conclude(failure), holder)


def _wish(request: Request) -> _Wish:
    """Raises GatewayError (404, 501)."""
    head = request.head
    found = _PLACE.fullmatch(head.path[head.path.index(PATH) :])
    if found is None or (head.method, found[2] or "") not in SERVED:
        served = ", ".join(f"{method} {PATH}ID{part}" for method, part in SERVED)
        raise GatewayError(ErrorKind.PATH_NOT_FOUND, f"Of stored responses this gateway serves {served}.")
    id_, part = found[1], found[2] or ""
    if "stream=true" in head.query:
        raise GatewayError(ErrorKind.NOT_IMPLEMENTED, "Stored responses are not streamed again; leave `stream` out.")
    return _Wish(head.method, id_, f"{PATH}{id_}{part}" + (f"?{head.query}" if head.query else ""))


def _unknown(id_: str) -> GatewayError:
    text = f"There is no stored response '{id_}': it was not made here with this key, or too long ago."
    return GatewayError(ErrorKind.PATH_NOT_FOUND, text)


def _error(outcome: Outcome, holder: Holder) -> GatewayError:
    if outcome.outcome_class in _REFUSALS and outcome.status is not None:
        return retry.refusal(outcome)
    return retry.final_error(holder.group, [outcome], soonest_s=1.0)


def _fail(error: GatewayError, request_id: str, reply: Reply, *, shows_details: bool) -> None:
    headers = reply_headers.error_lines(request_id, error, shows_details=shows_details)
    reply.send(CODEC.status_of(error), headers, CODEC.write_error(error, request_id))
