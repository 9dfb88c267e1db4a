"""What time and failures are worth to a group, in USD."""

from collections.abc import Sequence
from statistics import median

from pointsman.domain.policy import DECODE_WORTH_RATIO, SECONDS_WORTH, Market
from pointsman.domain.price import Price, estimate_usd
from pointsman.domain.value import Leaf

_UNPRICED_USD = 0.0008  # a usual request to a cheap model: while no price is known, only the ratios below matter
_LEAST_USD = 1e-5  # of a reference: with free models time must keep a value, else nothing would stop overload
_FAULT = 1.0  # references, besides the time that is lost: an attempt was lost, and somebody may have noticed
_REJECTION = 0.25  # a 429 is quick, and nobody noticed
_BROKEN = 0.5  # an answer that is no use is mostly asked for again
_FLAG = 10.0  # more than any difference between prices: exploration only


class Worth(Leaf):
    """All of it follows from what a usual request costs."""

    reference_usd: float
    ttft_usd_per_s: float
    decode_usd_per_s: float

    @property
    def fault_usd(self) -> float:
        return _FAULT * self.reference_usd

    @property
    def rejection_usd(self) -> float:
        return _REJECTION * self.reference_usd

    @property
    def broken_usd(self) -> float:
        return _BROKEN * self.reference_usd

    @property
    def flag_usd(self) -> float:
        return _FLAG * self.reference_usd


def reference_usd(prices: Sequence[Price | None], input_tokens: float, output_tokens: float) -> float:
    """What a mean request costs at a target of the middle, whoever is picked."""
    found = [estimate_usd(price, input_tokens, output_tokens) for price in prices]
    known = [usd for usd in found if usd is not None]
    return max(median(known), _LEAST_USD) if known else _UNPRICED_USD


def worth(policy: Market, reference: float) -> Worth:
    """An amount comes before a hand-set multiple, and that before the preset."""
    if policy.usd_per_second is not None:
        return Worth(reference, policy.usd_per_second, DECODE_WORTH_RATIO * policy.usd_per_second)
    if policy.seconds_worth is not None:
        usd_per_s = policy.seconds_worth * reference
        return Worth(reference, usd_per_s, DECODE_WORTH_RATIO * usd_per_s)
    preset = SECONDS_WORTH[policy.preset]
    return Worth(reference, preset.ttft * reference, preset.decode * reference)
