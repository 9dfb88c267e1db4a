"""The admin listener: probes, metrics, and what the gateway knows. Nothing here changes anything."""

import secrets
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pointsman.control import adaptive, decisions, targets
from pointsman.control.access import Access, admit
from pointsman.control.explain import DEFAULT_DIALECT, MAX_SEED, Question, State, answer
from pointsman.control.problems import ProblemError, render
from pointsman.control.query import Query
from pointsman.control.sources import Sources
from pointsman.domain.value import Value

Endpoint = Callable[[Sources, Request], Awaitable[Response]]


class Page(Value):
    """One path, and who may use it. There is no default: a page without an answer to that cannot be written."""

    path: str
    access: Access
    serve: Endpoint
    method: str = "GET"


async def _livez(sources: Sources, request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _readyz(sources: Sources, request: Request) -> Response:
    return PlainTextResponse("ready\n") if sources.is_ready() else PlainTextResponse("not ready\n", status_code=503)


async def _metrics(sources: Sources, request: Request) -> Response:
    return Response(sources.exposition(), media_type=CONTENT_TYPE_LATEST)


async def _status(sources: Sources, request: Request) -> Response:
    Query(request, ())
    return _json(sources.status())


async def _decisions(sources: Sources, request: Request) -> Response:
    found = decisions.page(Query(request, decisions.PARAMETERS), sources.recent())
    return _json({"decisions": found.records, "before": found.before})


async def _decision(sources: Sources, request: Request) -> Response:
    Query(request, ())
    return _json(decisions.one(request.path_params["request_id"], sources.recent()))


async def _targets(sources: Sources, request: Request) -> Response:
    Query(request, ())
    return _json({"targets": targets.statuses(sources)})


async def _adaptive(sources: Sources, request: Request) -> Response:
    Query(request, ())
    return _json(adaptive.telemetry(sources))


async def _explain(sources: Sources, request: Request) -> Response:
    query = Query(request, ("dialect", "state", "seed"))
    dialect = query.choice("dialect", DEFAULT_DIALECT)
    state = query.choice("state", State.LIVE)
    seed = query.number("seed", None, 0, MAX_SEED)
    body = await _body(request, sources.settings().body_limit_bytes)
    question = Question(body, dialect, secrets.randbelow(MAX_SEED) if seed is None else seed)
    board = sources.board if state is State.LIVE else None
    return _json(answer(question, sources.snapshot(), board, sources.clock.now()))


PAGES = (
    Page("/livez", Access.PUBLIC, _livez),
    Page("/readyz", Access.PUBLIC, _readyz),
    Page("/metrics", Access.METRICS, _metrics),
    Page("/api/v1/status", Access.API, _status),
    Page("/api/v1/targets", Access.API, _targets),
    Page("/api/v1/adaptive-routing-telemetry", Access.API, _adaptive),
    Page("/api/v1/decisions", Access.API, _decisions),
    Page("/api/v1/decisions/{request_id}", Access.API, _decision),
    Page("/api/v1/explain", Access.API, _explain, "POST"),
)


def application(sources: Sources) -> Starlette:
    """All pages of the admin listener."""
    routes = [Route(page.path, partial(_guarded, sources, page), methods=[page.method]) for page in PAGES]
    return Starlette(routes=routes, exception_handlers={ProblemError: render})


async def _guarded(sources: Sources, page: Page, request: Request) -> Response:
    admit(request, page.access, sources.settings().admin_token)
    return await page.serve(sources, request)


async def _body(request: Request, limit_bytes: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit_bytes:
            raise ProblemError(413, f"The body is longer than `server.limits.body`, {limit_bytes} bytes.")
    return bytes(body)


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
