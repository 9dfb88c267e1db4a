"""Which strategy a group gets, and why."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from pointsman.config.schema import GroupEntry
from pointsman.domain.policy import SECONDS_WORTH, Market, Objective, RoutingPolicy

_UNLIKE = "listed order, so that price never chooses between quality levels by accident"


class Choice(Struct, frozen=True):
    """A strategy and the sentence that explains it."""

    strategy: str
    reason: str


def choose(group: GroupEntry, identities: Sequence[str]) -> Choice:
    """The named strategy, or the safe one for the group's targets, whose models are `identities`."""
    if group.strategy is not None:
        return Choice(group.strategy, "the configuration names it")
    if any(target.weight is not None for target in group.targets):
        return Choice("weighted", "no strategy named, and a target has a weight")
    if len(identities) == 1:
        return Choice("failover", "no strategy named, and there is only one target")
    if group.same_model:
        return Choice("market", "no strategy named, and the group says that its targets are one model")
    if group.same_model is None and len(set(identities)) == 1:
        return Choice("market", f"no strategy named, and all targets are the model {identities[0]}")
    return Choice("failover", f"no strategy named, and the targets are unlike models: {_UNLIKE}")


def explained(policy: RoutingPolicy) -> str | None:
    """What a strategy with settings of its own is going to do; None: it has none."""
    explanation = _EXPLANATIONS.get(policy.decides)
    return None if explanation is None else explanation(policy)


def _blend(policy: RoutingPolicy) -> str:
    blend = policy.blend
    if not blend.enabled:
        return _OFF
    return (
        f"latency counts {blend.latency_weight:g}, cost {blend.cost_weight:g} and load {blend.load_weight:g}, "
        f"{blend.exploration_ratio:.3g} of the requests explore; by weight and load until {blend.min_samples} "
        "requests are answered"
    )


def _market(policy: RoutingPolicy) -> str:
    market = policy.market
    if not market.enabled:
        return _OFF
    return f"{_worth(market)}; {market.eps:.3g} above the best adjusted price a target has half of its share"


def _worth(market: Market) -> str:
    if market.usd_per_second is not None:
        return f"a second of waiting counts as {market.usd_per_second:g} USD"
    if market.seconds_worth is not None:
        return f"a second of waiting counts as {market.seconds_worth:g} usual requests"
    worth = SECONDS_WORTH[market.preset].ttft
    return f"{market.preset}: a second of waiting counts as {worth:g} usual requests"


def _p2c(policy: RoutingPolicy) -> str:
    if not policy.p2c.enabled:
        return _OFF
    return (
        f"drawn by {_DRAWN_BY[policy.p2c.objective]}; "
        f"every target keeps {policy.p2c.min_weight_fraction:.3g} of the best one's chance to be drawn"
    )


def _dynamic_score(policy: RoutingPolicy) -> str:
    score = policy.dynamic_score
    terms = ", ".join(term.name for term in score.terms) or "none"
    return (
        f"terms {terms}; they have {score.max_adjustment_ratio:.0%} of the say and weights the rest, "
        f"{score.exploration_ratio:.3g} of the requests explore; by weight until {score.min_observations} attempts "
        f"were seen in {score.window_s:g} s"
    )


def _plugin(policy: RoutingPolicy) -> str | None:
    return None if policy.plugin is None else f"`{policy.plugin.origin}` says who serves; if it fails, weights do"


def _external(policy: RoutingPolicy) -> str | None:
    external = policy.external
    if external is None:
        return None
    otherwise = "requests are refused" if external.fails_closed else "weights do"
    return f"{external.authority} says who serves, within {external.timeout_s * 1000:g} ms; if it fails, {otherwise}"


_OFF = "it is switched off, and traffic is shared by weight"
_DRAWN_BY = {
    Objective.LATENCY: "speed",
    Objective.COST: "speed and the square of the cost",
    Objective.BALANCED: "speed and cost alike",
}
_EXPLANATIONS: dict[str, Callable[[RoutingPolicy], str | None]] = {
    "blend": _blend,
    "market": _market,
    "p2c": _p2c,
    "dynamic_score": _dynamic_score,
    "plugin": _plugin,
    "external": _external,
}
