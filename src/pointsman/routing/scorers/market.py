"""The lowest adjusted price, but for those that may well be as low, and for a budget that keeps the others measured."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from pointsman.domain.decision import DecisionMode, Effects, FallbackReason, Spent
from pointsman.domain.derived import derived
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import ProbeView
from pointsman.routing.market import edge
from pointsman.routing.market.adjusted import PARTS, Parts, Quote, adjusted
from pointsman.routing.market.draws import draws
from pointsman.routing.market.outlook import DRAWS, Outlook, outlook_of
from pointsman.routing.scorers.contest import SCORE, Contest, Verdict, by_weight

_MAX_PROBES_RATIO = 0.05  # of an hour's requests
_FREE_PROBES = 5.0  # usual requests that an hour's probes may cost at any rate: covers thin traffic


class _Seats(Struct, frozen=True):
    """What draws are made with, once per set of candidates."""

    encoded_ids: tuple[bytes, ...]


@derived(maxsize=4096)
def _seats(group: ModelGroup, candidates: tuple[int, ...]) -> _Seats:
    return _Seats(tuple(group.members[index].target.id.encode() for index in candidates))


def verdict(contest: Contest) -> Verdict:
    policy, ids = contest.policy.market, _seats(contest.group, contest.candidates).encoded_ids
    drawn = draws(contest.draw_key, ids)
    loads = tuple([-math.log(uniform) for uniform, _ in drawn])
    if not policy.enabled:
        return structs.replace(by_weight(contest, FallbackReason.DISABLED), loads=loads)
    outlook = outlook_of(contest.group, contest.view)
    gates = tuple([contest.view.targets[index].gate for index in contest.candidates])
    rows = _rows(contest, outlook, _quotes(contest, outlook, gates, ids))
    usd = [row[-1] for row in rows]
    spreads = [outlook.spreads[index] for index in contest.candidates]
    drawn_usd = tuple([price * math.exp(sd * z) for price, sd, (_, z) in zip(usd, spreads, drawn, strict=True)])
    weights = edge.weights(drawn_usd, policy.eps, outlook.least_usd)
    terms = dict(zip(PARTS, zip(*rows, strict=True), strict=True))
    lowest = min(usd)
    total = sum(weights)
    chances = tuple([weight / total for weight in weights])
    terms |= {"gate": gates, "drawn_usd": drawn_usd, "chance": chances, SCORE: tuple([lowest / each for each in usd])}
    if not contest.is_first:
        return Verdict(tuple(weights), _modes(contest), terms, loads, shares=_long_run(contest, outlook, chances))
    probed = _probed(contest, outlook, usd)
    if probed is not None:
        return _probe(contest, probed, terms, loads, usd)
    shares, effects = _long_run(contest, outlook, chances), Effects(spent=Spent(lowest))
    return Verdict(tuple(weights), _modes(contest), terms, loads, shares=shares, effects=effects)


def _modes(contest: Contest) -> tuple[DecisionMode, ...]:
    return (DecisionMode.MARKET,) * len(contest.candidates)


def _quotes(contest: Contest, outlook: Outlook, gates: Sequence[float], ids: tuple[bytes, ...]) -> list[Quote]:
    """A request that is not admitted by a target's limits would most likely be refused: that has a price, too."""
    quotes = [outlook.quotes[index] for index in contest.candidates]
    if min(gates) >= 1.0:
        return quotes
    admissions = draws(f"{contest.request_id} gate", ids)
    return [
        found if uniform < gate else outlook.refused[index]
        for found, gate, (uniform, _), index in zip(quotes, gates, admissions, contest.candidates, strict=True)
    ]


def _rows(contest: Contest, outlook: Outlook, quotes: Sequence[Quote]) -> list[Parts]:
    estimates = contest.estimates
    output = estimates[0].output_tokens
    tokens_usd = [
        outlook.tokens_usd(None, found.input_tokens, output) if found.cost_usd is None else found.cost_usd
        for found in estimates
    ]
    return adjusted(quotes, tokens_usd, [found.input_tokens for found in estimates], output)


def _long_run(contest: Contest, outlook: Outlook, chances: tuple[float, ...]) -> tuple[float, ...]:
    """The mean over the draws of the tick and this one, which the tick's request was only much like."""
    ticked = [outlook.shares[index] for index in contest.candidates]
    total = sum(ticked)
    if not total:
        return chances
    weight = DRAWS / total
    return tuple([(weight * sums + chance) / (DRAWS + 1) for sums, chance in zip(ticked, chances, strict=True)])


def _probed(contest: Contest, outlook: Outlook, usd: Sequence[float]) -> int | None:
    """The place of the candidate that nobody has asked for too long, if the request is short and the budget allows."""
    probes, market = contest.view.probes, contest.view.market
    if not probes.due or market is None or contest.estimates[0].input_tokens > market.median_input_tokens:
        return None
    lowest = min(usd)
    for member in probes.due:
        if member in contest.candidates:
            place = contest.candidates.index(member)
            if member in probes.overdue or _is_affordable(contest, outlook, probes, usd[place] - lowest):
                return place
    return None


def _is_affordable(contest: Contest, outlook: Outlook, probes: ProbeView, extra_usd: float) -> bool:
    """An hour's probes stay within shares of its requests and of their adjusted prices (O-007)."""
    budget_usd = _FREE_PROBES * outlook.worth.reference_usd
    budget_usd += contest.policy.market.probe_spend_ratio * probes.best_usd
    return probes.probes + 1 <= _MAX_PROBES_RATIO * probes.requests and probes.extra_usd + extra_usd <= budget_usd


def _probe(
    contest: Contest,
    place: int,
    terms: dict[str, tuple[float, ...]],
    loads: tuple[float, ...],
    usd: Sequence[float],
) -> Verdict:
    weights = tuple([1.0 if index == place else 0.0 for index in range(len(usd))])
    modes = (DecisionMode.EXPLORATION,) * len(usd)
    spent = Spent(min(usd), usd[place] - min(usd), probed=contest.candidates[place])
    return Verdict(weights, modes, terms, loads, effects=Effects(spent=spent))
