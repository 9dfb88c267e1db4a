"""`x-pointsman-explain: full`: the latest decision of a request in one line, for callers who may know."""

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller, Scope
from pointsman.http1.header_block import HeaderBlock
from pointsman.routing.exchange import Exchange, Signals
from pointsman.routing.explanation import line

NAME = b"x-pointsman-explain"
_FULL = b"full"


def is_asked(headers: HeaderBlock, caller: Caller) -> bool:
    """True: the caller may have it. Raises GatewayError: 400 for another value, 403 without the scope."""
    asked = headers.get(NAME)
    if asked is None:
        return False
    if asked.lower() != _FULL:
        raise GatewayError(ErrorKind.BAD_REQUEST, f"The header '{NAME.decode()}' takes the value 'full' only.")
    if Scope.EXPLAIN not in caller.scopes:
        text = f"This API key lacks the scope '{Scope.EXPLAIN}', which the header '{NAME.decode()}' needs. "
        raise GatewayError(ErrorKind.PERMISSION_DENIED, text + "Leave it out, or ask the operator of this gateway.")
    return True


def lines(exchange: Exchange, signals: Signals, now: float) -> bytes:
    """The header line; none before the first decision."""
    if not exchange.decisions:
        return b""
    decision = exchange.decisions[-1]
    told = line(decision, signals.view(decision.group, now), now)
    return b"%b: %b\r\n" % (NAME, told.encode())
