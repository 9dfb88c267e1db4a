"""Who asks: the caller behind the key of a request. Nothing here is kept, and no message repeats a key."""

import re

from pointsman.domain.access import KeyRing
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller, Scope
from pointsman.http1.header_block import HeaderBlock

# `auth: {mode: none}`: loopback only, which the configuration checks
ANYONE = Caller(name="anonymous", scopes=frozenset((Scope.CHAT, Scope.STEER, Scope.EXPLAIN)))
# whoever is answered without a key, at a probe or with an error: may do nothing else
STRANGER = Caller(name="stranger", scopes=frozenset(), groups=frozenset())
MAX_KEY_BYTES = 256  # five times as long as ours; more is not hashed

_BEARER = re.compile(rb"bearer +([^ ]+)", re.IGNORECASE)
_PLAIN_HEADERS = (b"x-api-key", b"api-key")
_MISSING = (
    "There is no API key in this request. Send one as 'Authorization: Bearer KEY', or in the header 'x-api-key' or "
    "'api-key'."
)
_CONFLICT = "This request carries different API keys in its headers; send one."
_WRONG = "This API key is not valid here. Check that it was copied whole, or ask the operator of this gateway for one."
_EXPIRED = "This API key has expired. Ask the operator of this gateway for a new one."


def caller_of(keys: KeyRing, headers: HeaderBlock, needs: Scope | None, utc_s: float) -> Caller:
    """The caller whose key these headers carry. Raises GatewayError: 401, or 403 if the key lacks the scope."""
    presented = _key_in(headers)
    key = keys.find(presented) if len(presented) <= MAX_KEY_BYTES else None
    if key is None:
        raise GatewayError(ErrorKind.INVALID_API_KEY, _WRONG)
    if key.expires_utc_s is not None and key.expires_utc_s <= utc_s:
        raise GatewayError(ErrorKind.INVALID_API_KEY, _EXPIRED)
    if needs is not None and needs not in key.caller.scopes:
        text = f"This API key lacks the scope '{needs}', which this path needs. Ask the operator of this gateway."
        raise GatewayError(ErrorKind.PERMISSION_DENIED, text)
    return key.caller


def _key_in(headers: HeaderBlock) -> bytes:
    """The one key of a request; that several headers carry it is fine, that they differ is not."""
    found = {value for name in _PLAIN_HEADERS if (value := headers.get(name)) is not None}
    authorization = headers.get(b"authorization")
    if authorization is not None:
        bearer = _BEARER.fullmatch(authorization)
        found.add(bearer[1] if bearer else b"")  # another scheme is no key, and no reason to look elsewhere
    if len(found) > 1:
        raise GatewayError(ErrorKind.INVALID_API_KEY, _CONFLICT)
    if not any(found):
        raise GatewayError(ErrorKind.INVALID_API_KEY, _MISSING)
    return found.pop()
