"""The whole life of one model request, on one screen."""

import asyncio
import itertools
import logging
import os
import re

from pointsman.dialects.codec import Codec
from pointsman.domain.ask import Ask
from pointsman.domain.decision import FinishReason
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller, RequestFacts
from pointsman.http1.door import Request
from pointsman.http1.head import RequestHead
from pointsman.http1.reply import Reply
from pointsman.http1.server import OVERDUE
from pointsman.proxy import closer, explain_header, reply_headers
from pointsman.proxy.call import Call
from pointsman.proxy.codings import decoded
from pointsman.proxy.driver import drive
from pointsman.proxy.parts import Parts
from pointsman.proxy.recorder import CALLER_GONE_STATUS, Ended
from pointsman.routing import resolve
from pointsman.routing.exchange import Exchange

log = logging.getLogger(__name__)

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_prefix = f"req_{os.urandom(8).hex()}"  # unique over processes and restarts; ids are not secret
_numbers = itertools.count(1 + (1 << 32))  # `hex` writes nine digits, the first of them a 1


class ModelHandler:
    """Serves one dialect."""

    def __init__(self, codec: Codec, parts: Parts) -> None:
        self._codec, self._parts = codec, parts

    async def serve(self, request: Request, reply: Reply, caller: Caller) -> None:
        """Read, resolve, route, relay, record."""
        parts, codec = self._parts, self._codec
        snapshot, request_id = parts.live.snapshot, request_id_of(request.head)
        shows_details = snapshot.tells(caller, is_local=request.is_local)
        facts: RequestFacts | None = None
        exchange: Exchange | None = None
        call: Call | None = None
        try:
            body, coding = request.body, request.head.headers.get(b"content-encoding")
            if coding is not None:
                body = await decoded(body, coding, parts.live.body_limit_bytes)
            parsed = codec.read_request(body)
            facts = parsed.facts
            bound_to = parts.holders.find(caller.name, parsed.builds_on) if parsed.builds_on else None
            ask = Ask(request_id, caller, facts, snapshot, bound_to)
            group = resolve.find(facts.model, caller, snapshot)
            if closer.is_needed(group, parsed, caller, request.head.headers):
                ask = closer.look(ask, group, codec, parsed, request.head.headers, parts.clock.utc())
                facts = ask.facts
            timeouts, began_at = snapshot.timeouts, request.received_at
            deadline = began_at + (timeouts.total_stream_s if facts.stream else timeouts.total_s)
            exchange = Exchange(ask, group, parts.board, parts.rng, began_at=began_at, deadline=deadline)
            call = Call(parts, codec, request, reply, exchange, parsed, shows_details)
            if facts.stream:
                reply.on_quiet = call.keep_alive
            call.explains = explain_header.is_asked(request.head.headers, caller)
            finish = await drive(exchange, call, parts.board, parts.clock)
            reason = finish.reason
            call.finish(finish)
        except GatewayError as error:
            reason = FinishReason(error.kind.value.code)
            self._fail(error, request_id, reply, call, shows_details=shows_details)
        except RecursionError:
            reason = FinishReason.INVALID_REQUEST
            self._fail(nested_too_deeply(), request_id, reply, call, shows_details=shows_details)
        except asyncio.CancelledError as cancelled:
            reason, told = _cut(reply, is_overdue=OVERDUE in cancelled.args)
            self._fail(told, request_id, reply, call, shows_details=shows_details)
            raise
        except Exception:
            reason = FinishReason.INTERNAL_ERROR
            log.exception("a request failed in the gateway itself")
            self._fail(internal_error(), request_id, reply, call, shows_details=shows_details)
        finally:
            status = reply.status if reply.is_finished else CALLER_GONE_STATUS
            utc_s, duration_s = parts.clock.utc(), parts.clock.now() - request.received_at
            version = snapshot.config_version
            parts.recorder.note(Ended(utc_s, request_id, version, caller, facts, exchange, status, reason, duration_s))

    def _fail(
        self, error: GatewayError, request_id: str, reply: Reply, call: Call | None, *, shows_details: bool
    ) -> None:
        """Tell the caller, if it is still there; in the stream if one has begun."""
        if call is not None:
            call.fail(error)
        else:
            headers = reply_headers.error_lines(request_id, error, shows_details=shows_details)
            reply.send(self._codec.status_of(error), headers, self._codec.write_error(error, request_id))


def _cut(reply: Reply, *, is_overdue: bool) -> tuple[FinishReason, GatewayError]:
    """Why a request was ended from outside, and what its caller is told if it is still there."""
    if reply.is_gone:
        return FinishReason.CALLER_GONE, stopping()
    if is_overdue:
        return FinishReason.DEADLINE, GatewayError(ErrorKind.DEADLINE, "The request was not answered in time.")
    return FinishReason.SHUTDOWN, stopping()


def stopping() -> GatewayError:
    text = "The gateway is shutting down; send the request again."
    return GatewayError(ErrorKind.OVERLOADED, text, retry_after_s=1)


def nested_too_deeply() -> GatewayError:
    """The first look at the body still succeeded, a closer one did not."""
    return GatewayError(ErrorKind.BAD_REQUEST, "The request body is nested too deeply; use fewer levels.")


def internal_error() -> GatewayError:
    return GatewayError(ErrorKind.INTERNAL, "The gateway failed to answer; its log says why.")


def request_id_of(head: RequestHead) -> str:
    """The caller's own id if it is a plain one, else a new one."""
    given = head.headers.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode()
    return new_request_id()


def new_request_id() -> str:
    """Unique over all processes: a random part for each of them, and a number."""
    return _prefix + hex(next(_numbers))[3:]
