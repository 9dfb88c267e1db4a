"""Who may use the admin listener. Without an admin token that is this machine, and nobody behind a proxy on it."""

import re
from enum import Enum

from starlette.requests import Request

from pointsman.config.values import is_loopback
from pointsman.control.problems import ProblemError
from pointsman.domain.access import AdminToken

MAX_TOKEN_BYTES = 256  # four times as long as ours; more is not hashed

_BEARER = re.compile(r"bearer +([!-~]+)", re.IGNORECASE)
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_CHALLENGE = {"www-authenticate": "Bearer"}  # RFC 9110 11.6.1
_NEEDS_TOKEN = "Send the admin token as 'Authorization: Bearer TOKEN'. `pointsman keys admin` makes one."  # noqa: S105
_WRONG = "This is not the admin token. `pointsman keys admin` makes another one."
_LOCAL_ONLY = (
    "Without `auth.admin_token` this is only for requests from the machine itself, to a loopback address and through "
    "no proxy. `pointsman keys admin` makes a token."
)


class Access(Enum):
    """What a route is."""

    PUBLIC = "public"  # says nothing but whether the process is well
    METRICS = "metrics"  # numbers: with a token only this machine gets them without it
    API = "api"  # for whoever has the token, if there is one, else for this machine


def admit(request: Request, access: Access, token: AdminToken | None) -> None:
    """Raises ProblemError: 401, or 403 if no token would help."""
    if token is None:  # so the listener is on loopback
        if access is Access.API and not is_local(request):
            raise ProblemError(403, _LOCAL_ONLY)
    elif access is Access.API or (access is Access.METRICS and not is_local(request)):
        _check(request.headers.getlist("authorization"), token)


def is_local(request: Request) -> bool:
    """Whether it comes from this machine. A web page whose name leads here has another Host; a proxy says so."""
    peer, asked = request.client, request.url.hostname
    if peer is None or asked is None or any(name in request.headers for name in _FORWARDED):
        return False
    return is_loopback(peer.host) and is_loopback(asked)


def _check(authorization: list[str], token: AdminToken) -> None:
    presented = _BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
    if presented is None:
        raise ProblemError(401, _NEEDS_TOKEN, _CHALLENGE)
    raw = presented[1].encode()
    if len(raw) > MAX_TOKEN_BYTES or not token.fits(raw):
        raise ProblemError(401, _WRONG, _CHALLENGE)
