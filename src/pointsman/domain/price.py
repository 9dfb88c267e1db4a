"""What tokens cost: rates in USD per million tokens, costs in USD. Unknown is a value of its own, never 0 (C-10)."""

from enum import StrEnum

from pointsman.domain.outcome import Usage
from pointsman.domain.value import Value

_MILLION = 1e6


class Rates(Value):
    """USD per million tokens, by disjoint kinds of tokens."""

    input: float  # neither read from a cache nor written to one
    output: float
    cache_read: float
    cache_write: float


class Tier(Value):
    """Other rates for long requests: they hold for all tokens of one whose input is longer."""

    above_tokens: int
    rates: Rates


class Price(Value):
    """The list price of one provider for one model. All zeros is known, and free."""

    rates: Rates
    source: str  # where it was found, for people
    request_usd: float = 0.0  # per request, besides its tokens
    tiers: tuple[Tier, ...] = ()  # the longest first

    def rates_for(self, input_tokens: float) -> Rates:
        """The rates of a request with so much input, of whatever kind."""
        for tier in self.tiers:
            if input_tokens > tier.above_tokens:
                return tier.rates
        return self.rates


class CostUnknown(StrEnum):
    """Why a cost is not known."""

    NO_PRICE = "no_price"  # of the target
    NO_USAGE = "no_usage"  # the provider did not count, or only a part


def cost_usd(price: Price | None, usage: Usage | None) -> float | None:
    """What an attempt cost by the price of its target; None: not known, for the reason of `why_unknown`."""
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    uncached = max(usage.input_tokens - read - written, 0)  # some count their parts beside the total, not in it
    rates = price.rates_for(uncached + read + written)
    input_cost = uncached * rates.input + read * rates.cache_read + written * rates.cache_write
    return price.request_usd + (input_cost + usage.output_tokens * rates.output) / _MILLION


def why_unknown(price: Price | None) -> CostUnknown:
    """Why the cost of an attempt at that price is not known."""
    return CostUnknown.NO_PRICE if price is None else CostUnknown.NO_USAGE


def estimate_usd(
    price: Price | None, input_tokens: float, output_tokens: float, cached_tokens: float = 0.0
) -> float | None:
    """What a request of that length would cost, `cached_tokens` of its input read from a cache; None: not known."""
    if price is None:
        return None
    rates = price.rates_for(input_tokens)
    input_cost = (input_tokens - cached_tokens) * rates.input + cached_tokens * rates.cache_read
    return price.request_usd + (input_cost + output_tokens * rates.output) / _MILLION
