"""Request headers that speak to the gateway: which targets may serve, and what they may charge."""

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.preferences import MaxPrice, Preferences
from pointsman.domain.request import Caller, Scope
from pointsman.http1.header_block import HeaderBlock

TARGET, EXCLUDE, MAX_PRICE = b"x-pointsman-target", b"x-pointsman-exclude", b"x-pointsman-max-price"
NAMES = (TARGET, EXCLUDE, MAX_PRICE)
MAX_NAMES = 32  # in one header; each is compared with every target

_STEERS = (TARGET, EXCLUDE)  # need a scope; what only makes things cheaper is free for every key


def read(headers: HeaderBlock, caller: Caller) -> Preferences | None:
    """What they ask for; None: nothing. Raises GatewayError: 400 for a value, 403 without the scope."""
    if not headers.lines(NAMES):
        return None
    for name in _STEERS:
        if Scope.STEER not in caller.scopes and headers.get(name) is not None:
            text = f"This API key lacks the scope '{Scope.STEER}', which the header '{name.decode()}' needs. "
            raise GatewayError(ErrorKind.PERMISSION_DENIED, text + "Leave it out, or ask the operator of this gateway.")
    targets, prices = _listed(headers, TARGET), headers.get(MAX_PRICE)
    return Preferences(
        only=(targets,) if targets else (),
        ignore=_listed(headers, EXCLUDE),
        max_prices=() if prices is None else (_limits(prices),),
    )


def _listed(headers: HeaderBlock, name: bytes) -> tuple[str, ...]:
    """Names of providers or targets, with commas between."""
    value = headers.get(name)
    if value is None:
        return ()
    found = tuple(part.strip() for part in value.decode("latin-1").split(","))
    if not all(found) or len(found) > MAX_NAMES:
        raise _bad(name, f"names 1 to {MAX_NAMES} providers or targets, with commas between them")
    return found


def _limits(value: bytes) -> MaxPrice:
    try:
        prompt, completion = map(float, value.split(b","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
        raise _bad(MAX_PRICE, "takes USD per million tokens as 'prompt,completion', for example '1,5'")
    return MaxPrice(prompt, completion)


def _bad(name: bytes, rule: str) -> GatewayError:
    return GatewayError(ErrorKind.BAD_REQUEST, f"The header '{name.decode()}' {rule}.")
