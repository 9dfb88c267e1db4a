"""The data plane's front door: paths and methods to handlers."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

from pointsman.domain.access import KeyRing
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller, Scope
from pointsman.domain.value import Value
from pointsman.http1.door import Rendered, Request
from pointsman.http1.head import RequestHead
from pointsman.http1.overload import Overload
from pointsman.http1.reply import Reply
from pointsman.proxy import anthropic_models, models, reply_headers
from pointsman.proxy.auth import ANYONE, STRANGER, caller_of
from pointsman.proxy.caller_dialect import codec_for, speaks_anthropic
from pointsman.proxy.handler import new_request_id, request_id_of
from pointsman.proxy.parts import Parts
from pointsman.proxy.stored_responses import PATH as STORED_PATH

log = logging.getLogger(__name__)

_GET = ("GET", "HEAD")
_POST = ("POST",)
_PREFIX = "/v1"
_PREFIXES = (_PREFIX, "", _PREFIX * 2)  # without and doubled: the commonest mistakes in a base URL are answered, too
_MODEL_PATH = "/models/"
_BEGINNINGS = tuple(prefix + path for path in (_MODEL_PATH, STORED_PATH) for prefix in _PREFIXES)
_TEXT = b"content-type: text/plain; charset=utf-8\r\n"

Serve = Callable[[Request, Reply, Caller], Awaitable[None]]


class Route(Value):
    """What answers a path, and to whom. Nothing is public unless it says so."""

    methods: tuple[str, ...]
    serve: Serve
    needs: Scope | None = None  # of a key; None: any key will do
    is_public: bool = False  # no key at all


class FrontDoor:
    """Knows every path of the data plane; everything else is a typed 404."""

    def __init__(
        self, posts: Mapping[str, Serve], stored: Serve, parts: Parts, overload: Overload, used_bytes: Callable[[], int]
    ) -> None:
        """`posts`: what answers a request for a model, by its path below the base URL. `stored`: about old answers.

        `used_bytes`: memory in use.
        """
        self._live, self._clock, self._overload, self._used_bytes = parts.live, parts.clock, overload, used_bytes
        self._hinted: set[str] = set()  # hints that have been given
        served = {
            **{path: Route(_POST, serve, needs=Scope.CHAT) for path, serve in posts.items()},
            "/models": Route(_GET, self._models),
            _MODEL_PATH: Route(_GET, self._model),
            STORED_PATH: Route(("GET", "DELETE", "POST"), stored, needs=Scope.CHAT),
        }
        self._routes = {
            **{prefix + path: route for prefix in _PREFIXES for path, route in served.items()},
            **dict.fromkeys(("/", _PREFIX, _PREFIX + "/"), Route(_GET, self._root, is_public=True)),
            "/livez": Route(_GET, self._livez, is_public=True),
            "/readyz": Route(_GET, self._readyz, is_public=True),
        }
        self._elsewhere = Route((*_GET, *_POST), self._nowhere)
        self._known = ", ".join(_PREFIX + path for path in (*posts, "/models"))
        self._hints = {
            **dict.fromkeys(served, "add /v1 to"),
            **dict.fromkeys((_PREFIX * 2 + path for path in served), "remove /v1 from"),
        }

    def __call__(self, request: Request, reply: Reply) -> Awaitable[None]:
        """The work of one request of any path, to be awaited."""
        path = request.head.path
        route = self._routes.get(path) or self._longer_route(path)
        keys = self._live.snapshot.keys
        try:
            caller = ANYONE if keys is None else self._caller(keys, route, request.head)
            if self._overload.is_shedding and not (route.is_public or request.is_admitted):
                self._overload.admit()
        except GatewayError as error:
            return self._turned_away(error, request, reply)
        if request.head.method not in route.methods:
            return self._not_allowed(route.methods, request, reply, caller)
        if path in self._hints:
            self._hint(path)
        return route.serve(request, reply, caller)

    def admit(self, head: RequestHead, expected_bytes: int) -> None:
        """The key, and whether there is time and room, before the body. Raises GatewayError (401, 403, 503)."""
        route, keys = self._routes.get(head.path) or self._longer_route(head.path), self._live.snapshot.keys
        if keys is not None:
            self._caller(keys, route, head)
        if route.is_public:
            return
        if self._overload.is_shedding:
            self._overload.admit()
        self._overload.admit_body(self._used_bytes(), expected_bytes)

    def is_probe(self, head: RequestHead) -> bool:
        """Part of `Door`."""
        route = self._routes.get(head.path)
        return route is not None and route.is_public

    def knows(self, head: RequestHead) -> bool:
        """Part of `Door`. On loopback without keys everybody is known."""
        keys = self._live.snapshot.keys
        try:
            if keys is not None:
                caller_of(keys, head.headers, None, self._clock.utc())
        except GatewayError:
            return False
        return True

    def render_error(self, error: GatewayError, head: RequestHead | None, *, is_local: bool) -> Rendered:
        """An error before there was a whole request, perhaps not even a head."""
        request_id = new_request_id() if head is None else request_id_of(head)
        shows_details = self._live.snapshot.shows_details and is_local
        headers = reply_headers.error_lines(request_id, error, shows_details=shows_details)
        codec = codec_for(head)
        return codec.status_of(error), headers, codec.write_error(error, request_id)

    def _caller(self, keys: KeyRing, route: Route, head: RequestHead) -> Caller:
        """Raises GatewayError (401, 403)."""
        return STRANGER if route.is_public else caller_of(keys, head.headers, route.needs, self._clock.utc())

    def _longer_route(self, path: str) -> Route:
        """Some paths are known by their beginning only: names of models may have slashes, and responses have parts."""
        for beginning in _BEGINNINGS:
            if path.startswith(beginning):
                return self._routes[beginning]
        return self._elsewhere

    def _hint(self, path: str) -> None:
        """The commonest mistake in a base URL: said once, for whoever set the client up."""
        text = self._hints[path]
        if text not in self._hinted:
            self._hinted.add(text)
            log.warning("requests come to %s: %s the client's base URL", path, text)

    async def _turned_away(self, error: GatewayError, request: Request, reply: Reply) -> None:
        self._refuse(error, request, reply, STRANGER)

    async def _not_allowed(self, methods: tuple[str, ...], request: Request, reply: Reply, caller: Caller) -> None:
        error = GatewayError(ErrorKind.METHOD_NOT_ALLOWED, f"This path takes {' and '.join(methods)} only.")
        self._refuse(error, request, reply, caller, b"allow: %b\r\n" % ", ".join(methods).encode())

    def _refuse(self, error: GatewayError, request: Request, reply: Reply, caller: Caller, more: bytes = b"") -> None:
        shows_details = self._live.snapshot.tells(caller, is_local=request.is_local)
        request_id, codec = request_id_of(request.head), codec_for(request.head)
        headers = reply_headers.error_lines(request_id, error, shows_details=shows_details)
        reply.send(codec.status_of(error), headers + more, codec.write_error(error, request_id))

    def _json(self, request: Request, reply: Reply, body: bytes) -> None:
        headers = reply_headers.lines(reply_headers.JSON, request_id_of(request.head), 0, b"", "", b"")
        reply.send(200, headers, body)

    async def _models(self, request: Request, reply: Reply, caller: Caller) -> None:
        head, snapshot = request.head, self._live.snapshot
        if not speaks_anthropic(head):
            self._json(request, reply, models.listing(caller, snapshot))
            return
        try:
            self._json(request, reply, anthropic_models.page(caller, snapshot, head.query))
        except GatewayError as error:
            self._refuse(error, request, reply, caller)

    async def _model(self, request: Request, reply: Reply, caller: Caller) -> None:
        name = unquote(request.head.path.partition(_MODEL_PATH)[2])
        one = anthropic_models.one if speaks_anthropic(request.head) else models.one
        try:
            self._json(request, reply, one(name, caller, self._live.snapshot))
        except GatewayError as error:
            self._refuse(error, request, reply, caller)

    async def _root(self, request: Request, reply: Reply, caller: Caller) -> None:
        reply.send(200, _TEXT, b"Pointsman is running. OpenAI base URL: /v1, Anthropic base URL: /\n")

    async def _livez(self, request: Request, reply: Reply, caller: Caller) -> None:
        reply.send(200, _TEXT, b"ok\n")

    async def _readyz(self, request: Request, reply: Reply, caller: Caller) -> None:
        if self._live.is_ready:
            reply.send(200, _TEXT, b"ready\n")
        else:
            reply.send(503, _TEXT, b"draining\n" if self._live.is_draining else b"no model is configured\n")

    async def _nowhere(self, request: Request, reply: Reply, caller: Caller) -> None:
        text = f"There is nothing at this path; this gateway serves {self._known}."
        self._refuse(GatewayError(ErrorKind.PATH_NOT_FOUND, text), request, reply, caller)
