"""The adjusted price: what a good answer of a target costs, with the time it takes and with what may go wrong.

    B = C + lt T + ld D                        tokens, time to the first token, time from there to the last one
    A = B + pf (lt tf + W + kf + R) + pq (lt tq + kq + R) + pb kb

R is what the retry costs beyond B: it goes to the best of the other targets at the going rate. One lookahead is enough,
and it stays bounded for a target that always fails. A never falls when a price, a time or a ratio rises.
"""

from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.value import Leaf

MAX_FAILING_RATIO = 0.99  # of attempts that fail or are refused: somebody has to answer in the end


class Quote(Leaf):
    """The part of a target's adjusted price that does not depend on the request, in USD."""

    ttft_usd: float  # for an empty prompt
    ttft_usd_per_token: float  # of input
    speed_usd_per_token: float  # of output
    fault_ratio: float
    rejection_ratio: float
    fault_usd: float  # without what the retry costs
    rejection_usd: float
    quality_usd: float

    def refused(self) -> "Quote":
        """The same for a request that its limits would most likely refuse."""
        return capped(self, self.fault_ratio, MAX_FAILING_RATIO)


def capped(quote: Quote, fault_ratio: float, rejection_ratio: float) -> Quote:
    """A quote with these ratios, together at most MAX_FAILING_RATIO.

    What costs more keeps its ratio: if both shrank alike, more refusals could make a failing target cheaper.
    """
    if quote.fault_usd >= quote.rejection_usd:
        faults = min(fault_ratio, MAX_FAILING_RATIO)
        rejections = min(rejection_ratio, MAX_FAILING_RATIO - faults)
    else:
        rejections = min(rejection_ratio, MAX_FAILING_RATIO)
        faults = min(fault_ratio, MAX_FAILING_RATIO - rejections)
    return structs.replace(quote, fault_ratio=faults, rejection_ratio=rejections)


PARTS = ("tokens_usd", "ttft_usd", "speed_usd", "faults_usd", "rejections_usd", "quality_usd", "adjusted_usd")

Parts = tuple[float, float, float, float, float, float, float]


def adjusted(
    quotes: Sequence[Quote], tokens_usd: Sequence[float], inputs: Sequence[float], output: float
) -> list[Parts]:
    """The parts of each candidate's adjusted price, which add up to the last one: in this order, exactly."""
    bases = [
        (usd, quote.ttft_usd + quote.ttft_usd_per_token * length, quote.speed_usd_per_token * output)
        for quote, usd, length in zip(quotes, tokens_usd, inputs, strict=True)
    ]
    sums = [tokens + ttft + speed for tokens, ttft, speed in bases]
    found: list[Parts] = []
    for quote, (tokens, ttft, speed), base, beside in zip(quotes, bases, sums, _alternatives(sums), strict=True):
        retry = beside - base if beside > base else 0.0
        faults = quote.fault_ratio * (quote.fault_usd + retry)
        rejections = quote.rejection_ratio * (quote.rejection_usd + retry)
        quality = quote.quality_usd
        found.append((tokens, ttft, speed, faults, rejections, quality, base + faults + rejections + quality))
    return found


def _alternatives(bases: Sequence[float]) -> list[float]:
    """The lowest of the others; alone, one's own."""
    if len(bases) == 1:
        return list(bases)
    lowest, second = sorted(bases)[:2]
    found = [lowest] * len(bases)
    found[bases.index(lowest)] = second
    return found
