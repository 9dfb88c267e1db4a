"""The lowest adjusted price, but for those that may well be as low, and for a budget that keeps the others measured."""

import math
from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.decision import NO_EFFECTS, DecisionMode, Effects, Spent
from pointsman.domain.derived import derived
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import ProbeView
from pointsman.routing.market import edge
from pointsman.routing.market.adjusted import PARTS, Parts
from pointsman.routing.market.draws import draws
from pointsman.routing.market.outlook import DRAWS, Outlook, outlook_of
from pointsman.routing.scorers.contest import SCORE, Contest, Verdict, by_weight

_MAX_PROBES_RATIO = 0.05  # of an hour's requests
_FREE_PROBES = 5.0  # usual requests that an hour's probes may cost at any rate: covers thin traffic


@derived(maxsize=4096)
def _encoded_ids(group: ModelGroup, candidates: tuple[int, ...]) -> tuple[bytes, ...]:
    """What draws are made with."""
    return tuple(group.members[index].target.id.encode() for index in candidates)


def verdict(contest: Contest) -> Verdict:
    policy, ids = contest.policy.market, _encoded_ids(contest.group, contest.candidates)
    drawn = draws("" if contest.ask is None else contest.ask.draw_key, ids)
    loads = tuple([-math.log(uniform) for uniform, _ in drawn])
    if not policy.enabled:
        return structs.replace(by_weight(contest, FallbackReason.DISABLED), loads=loads)
    outlook = outlook_of(contest.group, contest.view)
    gates = tuple([contest.view.targets[index].gate for index in contest.candidates])
    admitted = _admitted(contest, gates, ids)
    rows = _rows(contest, outlook, admitted)
    usd = [row[-1] for row in rows]
    spreads = [outlook.spreads[index] for index in contest.candidates]
    drawn_usd = tuple([price * math.exp(sd * z) for price, sd, (_, z) in zip(usd, spreads, drawn, strict=True)])
    weights = edge.weights(drawn_usd, policy.eps, outlook.least_usd)
    terms = dict(zip(PARTS, zip(*rows, strict=True), strict=True))
    lowest = min(usd)
    total = sum(weights)
    chances = tuple([weight / total for weight in weights])
    terms |= {"gate": gates, "drawn_usd": drawn_usd, "chance": chances, SCORE: tuple([lowest / each for each in usd])}
    probed = _probed(contest, outlook, usd) if contest.is_first else None
    if probed is not None:
        return _probe(contest, probed, terms, loads, usd)
    return Verdict(
        tuple(weights),
        (DecisionMode.MARKET,) * len(usd),
        terms,
        loads,
        shares=_long_run(contest, outlook, chances),
        effects=Effects(spent=Spent(lowest)) if contest.is_first else NO_EFFECTS,
        prices_usd=tuple(usd) if contest.home is None or admitted[contest.home] else _but_home(contest, usd),
    )


def _admitted(contest: Contest, gates: Sequence[float], ids: tuple[bytes, ...]) -> list[bool]:
    """Drawn for each request: a session must not be kept out for as long as it draws alike."""
    if min(gates) >= 1.0:
        return [True] * len(gates)
    draw_key = "gate" if contest.ask is None else f"{contest.ask.request_id} gate"
    return [uniform < gate for gate, (uniform, _) in zip(gates, draws(draw_key, ids), strict=True)]


def _rows(contest: Contest, outlook: Outlook, admitted: Sequence[bool]) -> list[Parts]:
    """A request that is not admitted by a target's limits would most likely be refused: that has a price, too."""
    quotes = [
        outlook.quotes[index] if is_in else outlook.refused[index]
        for index, is_in in zip(contest.candidates, admitted, strict=True)
    ]
    return outlook.prices(quotes, contest.estimates)


def _but_home(contest: Contest, usd: Sequence[float]) -> tuple[float | None, ...]:
    """The session may not stay, whatever it would cost."""
    return tuple([None if place == contest.home else price for place, price in enumerate(usd)])


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
    lowest, is_unbound = min(usd), _is_unbound(contest)
    for member in probes.due:
        if member in contest.candidates and (is_unbound or member in probes.open_to_all):
            place = contest.candidates.index(member)
            if member in probes.overdue or _is_affordable(contest, outlook, probes, usd[place] - lowest):
                return place
    return None


def _is_unbound(contest: Contest) -> bool:
    """Nobody should have any of it in a cache: it is the first turn, or its session has no target and no traces."""
    session = None if contest.ask is None else contest.ask.facts.session
    is_first_turn = session is not None and not session.has_begun
    return is_first_turn or (contest.home is None and max(found.cached_tokens for found in contest.estimates) == 0)


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
    prices_usd = _but_home(contest, usd)
    return Verdict(weights, modes, terms, loads, effects=Effects(spent=spent), prices_usd=prices_usd)
