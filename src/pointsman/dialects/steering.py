"""The fields of a request that speak to the gateway: `provider` and `models`, as OpenRouter has them (pure).

They are taken out of the body, all other bytes stay as they are. What is not known here is refused: a wish that is
silently ignored would be a broken promise.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct, structs
from msgspec.json import Decoder

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.fields import strict
from pointsman.dialects.top_level import Edit, TopLevel, splice
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.preferences import MaxPrice, Preferences, Sort

FIELDS = frozenset(("provider", "models"))
MAX_NAMES = 32  # in a list; what callers name is compared with every target
# every target of the dialect takes them
_NOT_PARAMETERS = FIELDS | {
    "model", "messages", "system", "input", "instructions", "prompt", "stream", "stream_options",
}  # fmt: skip

_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Names = Annotated[list[_Name], Meta(max_length=MAX_NAMES)]
_SomeNames = Annotated[list[_Name], Meta(min_length=1, max_length=MAX_NAMES)]  # nobody could serve an empty one
_Quantization = Literal[
    "int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32", "unknown"
]
_Usd = Annotated[float, Meta(ge=0)] | Annotated[str, Meta(max_length=40)]  # the schema says text, the examples numbers


class _MaxPrice(Struct, forbid_unknown_fields=True):
    prompt: _Usd | None = None
    completion: _Usd | None = None
    request: _Usd | None = None


class _SortBy(Struct, forbid_unknown_fields=True):
    by: Sort
    partition: Literal["model"] | None = None


class _Provider(Struct, forbid_unknown_fields=True):
    """The object, every field of which may be null."""

    order: _SomeNames | None = None
    allow_fallbacks: bool | None = None
    require_parameters: bool | None = None
    data_collection: Literal["allow", "deny"] | None = None
    zdr: bool | None = None
    only: _SomeNames | None = None
    ignore: _Names | None = None
    quantizations: Annotated[list[_Quantization], Meta(min_length=1)] | None = None
    sort: Sort | _SortBy | None = None
    max_price: _MaxPrice | None = None


_PROVIDER = Decoder(_Provider | None)
_MODELS = Decoder(_Names | None)


def taken_out(top: TopLevel, read: Callable[[bytes], ParsedRequest]) -> ParsedRequest:
    """The request without these fields, read by its codec, and what they say. Raises GatewayError (400)."""
    preferences = _preferences(top.values)
    named = tuple(_given(top.values))
    parsed = read(splice(top.body, list(_removals(top))))
    facts = structs.replace(parsed.facts, preferences=named)
    return structs.replace(parsed, facts=facts, preferences=preferences)


def _removals(top: TopLevel) -> Iterator[Edit]:
    """Each field with the comma before it; those at the beginning with the comma behind them."""
    start, is_leading = top.body.index(b"{") + 1, True
    for name in top.values:
        end = top.span(name)[1]
        if name in FIELDS:
            yield start, end, b""
        elif is_leading:
            if start != top.body.index(b"{") + 1:
                yield start, top.body.index(b",", start) + 1, b""
            is_leading = False
        start = end


def _preferences(values: Mapping[str, Raw]) -> Preferences:
    provider = _provider(values)
    models = (strict(values, "models", _MODELS) if "models" in values else None) or []
    sort = provider.sort.by if isinstance(provider.sort, _SortBy) else provider.sort
    return Preferences(
        order=tuple(provider.order or ()),
        allow_fallbacks=provider.allow_fallbacks is not False,
        only=(tuple(provider.only),) if provider.only else (),
        ignore=tuple(provider.ignore or ()),
        parameters=frozenset(values.keys() - _NOT_PARAMETERS) if provider.require_parameters else frozenset(),
        denies_training=provider.data_collection == "deny",
        zdr=provider.zdr is True,
        quantizations=tuple(provider.quantizations or ()),
        sort=sort,
        max_prices=() if provider.max_price is None else (_limits(provider.max_price),),
        models=tuple(models),
    )


def _provider(values: Mapping[str, Raw]) -> _Provider:
    try:
        return (strict(values, "provider", _PROVIDER) if "provider" in values else None) or _Provider()
    except GatewayError as error:
        known = ", ".join(_Provider.__struct_fields__)
        sorts = ", ".join(f"'{sort}'" for sort in Sort)
        text = f"{error.message} It takes {known}; 'sort' takes {sorts}. Leave out what is not among them."
        raise GatewayError(error.kind, text, param=error.param) from None


def _limits(written: _MaxPrice) -> MaxPrice:
    return MaxPrice(*[_usd(name, getattr(written, name)) for name in written.__struct_fields__])


def _usd(name: str, written: float | str | None) -> float | None:
    if written is None:
        return None
    try:
        usd = float(written)
    except ValueError:
        usd = math.nan
    if not 0 <= usd < math.inf:
        text = f"The field 'provider.max_price.{name}' must be a number of USD, 0 or more."
        raise GatewayError(ErrorKind.BAD_REQUEST, text, param="provider")
    return usd


def _given(values: Mapping[str, Raw]) -> Iterator[str]:
    """The names of all preferences that are not null."""
    if "provider" in values:
        inner = msgspec.json.decode(values["provider"], type=dict[str, Raw] | None) or {}
        yield from (name for name, value in inner.items() if bytes(value) != b"null")
    if "models" in values and bytes(values["models"]) != b"null":
        yield "models"
