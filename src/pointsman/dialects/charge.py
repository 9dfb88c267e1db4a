"""What a provider says it charges for an answer: `usage.cost`, as OpenRouter has it in every dialect (pure)."""

import math
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import NULL, UNREADABLE, is_given


class _Details(Struct, gc=False):
    upstream_inference_cost: Raw = NULL


_decode_number = Decoder(float).decode
_decode_flag = Decoder(Any).decode
_decode_details = Decoder(_Details).decode


def charged_usd(cost: Raw, is_byok: Raw, details: Raw) -> float | None:
    """USD; None: it does not say, or nothing that can be trusted. With a key of one's own the rest is billed apart."""
    if not is_given(cost):
        return None
    try:
        usd = _decode_number(cost)
        if is_given(is_byok) and _decode_flag(is_byok) is True:
            usd += _decode_number(_decode_details(details).upstream_inference_cost)
    except (*UNREADABLE, msgspec.ValidationError):
        return None
    return usd if 0.0 <= usd < math.inf else None
