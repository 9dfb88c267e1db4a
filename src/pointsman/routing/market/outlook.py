"""What is worked out of a group's numbers once per tick, not for every request."""

import math
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pointsman.domain.decision import Estimate
from pointsman.domain.derived import derived
from pointsman.domain.price import Price, estimate_usd
from pointsman.domain.target import ModelGroup
from pointsman.domain.usual import DECODE_TOKENS_PER_S, PREFILL_TOKENS_PER_S, SETUP_S, usual_ttft_s
from pointsman.domain.value import Value
from pointsman.domain.view import RARE_RATIO, TYPICAL_INPUT_TOKENS, GroupView, MarketView, Measured
from pointsman.routing.market import edge
from pointsman.routing.market.adjusted import Parts, Quote, adjusted, capped
from pointsman.routing.market.draws import draws
from pointsman.routing.market.worth import Worth, reference_usd, worth

DRAWS = 32  # of which the long-run shares are the mean: 3 % of a request
_LEAST_WAIT_S = 0.05  # an adjusted price counts as at least so long a wait: ratios to nearly nothing are noise
_USUAL_TTFT_S = usual_ttft_s(TYPICAL_INPUT_TOKENS)


class Outlook(Value):
    """All tuples follow the order of the group's members."""

    worth: Worth
    quotes: tuple[Quote, ...]
    refused: tuple[Quote, ...]  # the same for requests that limits do not admit
    spreads: tuple[float, ...]  # standard errors of ln(adjusted price)
    shares: tuple[float, ...]  # sums over DRAWS draws for a mean request, as if all members were candidates
    dearest: Price | None  # counts where none is known; None: none is

    @property
    def least_usd(self) -> float:
        """The least that an adjusted price counts as."""
        return _LEAST_WAIT_S * self.worth.ttft_usd_per_s

    def tokens_usd(
        self, price: Price | None, input_tokens: float, output_tokens: float, cached_tokens: float = 0.0
    ) -> float:
        """What a request would be charged; where nobody knows, as at the dearest target."""
        return estimate_usd(price or self.dearest, input_tokens, output_tokens, cached_tokens) or 0.0

    def prices(self, quotes: Sequence[Quote], estimates: Sequence[Estimate]) -> list[Parts]:
        """The parts of each candidate's adjusted price for one request, of which `estimates` know the length."""
        output = estimates[0].output_tokens
        tokens_usd = [
            self.tokens_usd(None, found.input_tokens, output, found.cached_tokens)
            if found.cost_usd is None
            else found.cost_usd
            for found in estimates
        ]
        return adjusted(quotes, tokens_usd, [found.input_tokens - found.cached_tokens for found in estimates], output)


_made: WeakKeyDictionary[MarketView, Outlook] = WeakKeyDictionary()  # as long as the view is in use


def outlook_of(group: ModelGroup, view: GroupView) -> Outlook:
    """Follows from the latest tick alone, so it is worked out for the first request after it."""
    if view.market is None:
        raise ValueError("a strategy that prices time needs the numbers of a tick")
    found = _made.get(view.market)
    if found is None:
        found = _made[view.market] = _outlook(group, view, view.market)
    return found


def _outlook(group: ModelGroup, view: GroupView, market: MarketView) -> Outlook:
    prices = [member.target.price for member in group.members]
    lengths = market.input_tokens, market.output_tokens
    worth_of_time = worth(group.policy.market, reference_usd(prices, *lengths))
    quotes = tuple([
        quote(worth_of_time, seen, price, flagged=target.flagged)
        for seen, price, target in zip(view.measured, prices, view.targets, strict=True)
    ])  # fmt: skip
    known = [price for price in prices if price is not None]
    dearest = max(known, key=lambda price: estimate_usd(price, *lengths) or 0.0, default=None)
    refused = tuple([each.refused() for each in quotes])
    found = Outlook(worth_of_time, quotes, refused, (), (), dearest)
    tokens_usd = [
        found.tokens_usd(price, *lengths) * seen.price_factor for price, seen in zip(prices, view.measured, strict=True)
    ]
    inputs, output = [market.input_tokens] * len(quotes), market.output_tokens
    rows = adjusted(quotes, tokens_usd, inputs, output)
    spreads = tuple([spread(row, of, seen) for row, of, seen in zip(rows, quotes, view.measured, strict=True)])
    gates = [seen.gate for seen in view.targets]
    if_refused = rows if min(gates) >= 1.0 else adjusted(refused, tokens_usd, inputs, output)
    sides = [
        (row[-1], other[-1], gate, sd) for row, other, gate, sd in zip(rows, if_refused, gates, spreads, strict=True)
    ]
    ids = tuple(member.target.id for member in group.members)
    shares = _long_run(sides, fixed_draws(ids), group.policy.market.eps, found.least_usd)
    return Outlook(worth_of_time, quotes, refused, spreads, shares, dearest)


def quote(worth_of_time: Worth, seen: Measured, price: Price | None, *, flagged: bool) -> Quote:
    """What a target's numbers are worth; what is not known counts as usual."""
    slowness = (_USUAL_TTFT_S if seen.ttft_s is None else seen.ttft_s) / _USUAL_TTFT_S
    usd_per_s = worth_of_time.ttft_usd_per_s
    flat = Quote(
        ttft_usd=usd_per_s * slowness * SETUP_S,
        ttft_usd_per_token=usd_per_s * slowness / PREFILL_TOKENS_PER_S,
        speed_usd_per_token=worth_of_time.decode_usd_per_s / (seen.decode_tps or DECODE_TOKENS_PER_S),
        fault_ratio=0.0,
        rejection_ratio=0.0,
        fault_usd=usd_per_s * (seen.fault_s or 0.0) + _lost_usd(price, seen) + worth_of_time.fault_usd,
        rejection_usd=usd_per_s * (seen.rejection_s or 0.0) + worth_of_time.rejection_usd,
        quality_usd=seen.broken_ratio * worth_of_time.broken_usd + (worth_of_time.flag_usd if flagged else 0.0),
    )
    return capped(flat, _ratio(seen.failure_ratio), _ratio(seen.rate_limited_ratio))


def _lost_usd(price: Price | None, seen: Measured) -> float:
    """What a failed attempt is charged: tokens, but no fee for an answer."""
    if price is None:
        return 0.0
    lost_usd = (estimate_usd(price, seen.lost_input_tokens, seen.lost_output_tokens) or 0.0) - price.request_usd
    return lost_usd * seen.price_factor


def _ratio(known: float | None) -> float:
    return RARE_RATIO if known is None else known


def spread(row: Sequence[float], of: Quote, seen: Measured) -> float:
    """The standard error of ln(adjusted price), by the delta method: what each estimate moves, times its own error."""
    _, ttft_usd, speed_usd, _, _, _, usd = row
    moved = (
        ttft_usd * seen.ttft_error,
        speed_usd * seen.decode_error,
        of.fault_usd * seen.failure_error,
        of.rejection_usd * seen.rate_limited_error,
    )
    return math.hypot(*moved) / usd


@derived(maxsize=64)
def fixed_draws(target_ids: tuple[str, ...]) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Always the same ones: shares must not flicker from tick to tick."""
    encoded = [target_id.encode() for target_id in target_ids]
    return tuple(tuple(draws(f"tick {number}", encoded)) for number in range(DRAWS))


def _long_run(
    sides: Sequence[tuple[float, float, float, float]],
    deviates: Sequence[Sequence[tuple[float, float]]],
    eps: float,
    least_usd: float,
) -> tuple[float, ...]:
    """`sides`: the price if admitted, the price if not, how often it is, and how well the price is known."""
    sums = [0.0] * len(sides)
    for row in deviates:
        drawn = [
            (usd if uniform < gate else refused) * math.exp(sd * normal)
            for (usd, refused, gate, sd), (uniform, normal) in zip(sides, row, strict=True)
        ]
        found = edge.weights(drawn, eps, least_usd)
        total = sum(found)
        sums = [before + weight / total for before, weight in zip(sums, found, strict=True)]
    return tuple(sums)
