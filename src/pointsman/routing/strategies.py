"""Strategies: named presets of the steps. A name is never special-cased anywhere else."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from msgspec import structs

from pointsman.domain.decision import DecisionMode, Estimate
from pointsman.domain.policy import MARKET, STRICT, AffinityMode, Cooldown, Detail, RoutingPolicy
from pointsman.domain.request import RequestFacts
from pointsman.domain.score_policy import ALWAYS, DynamicScore
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Value
from pointsman.domain.view import GroupView, Signal
from pointsman.routing import costs, opinions
from pointsman.routing.expressions.compiled import compiled
from pointsman.routing.expressions.tree import ScoreName
from pointsman.routing.pickers import PICKERS, Picker
from pointsman.routing.score_terms import Narrowed, narrowed
from pointsman.routing.scorers import SCORERS, Scorer


class Strategy(Value):
    """What a name stands for."""

    pick: Picker
    mode: DecisionMode
    compares_prices: bool = False  # what each candidate would charge is estimated
    score: Scorer | None = None  # None: weights decide; of the cheapest candidates alone if prices are compared
    reads: frozenset[Signal] = frozenset()  # what is measured for the scorer; nothing else is
    affinity: AffinityMode = AffinityMode.OFF  # of groups that do not name one
    remembers_sessions: bool = False  # the scorer wants to know which target answered the session last
    compares_prefixes: bool = False  # and how much of the prompt each one knows; else only for prices that depend on it
    cooldown: Cooldown = STRICT
    opinion: opinions.OpinionOf | None = None  # whom the scorer listens to; None: to nobody
    draws_gates: bool = True  # False: the scorer reads the gates itself, and so whoever is not excluded is a candidate
    narrow: Callable[[RequestFacts, ModelGroup, tuple[int, ...], GroupView], Narrowed] | None = None  # None: by nothing
    by_cost: Callable[[tuple[float, ...], tuple[Estimate, ...]], tuple[float, ...]] = costs.cheapest  # without a scorer


def _told(mode: DecisionMode, opinion: opinions.OpinionOf) -> Strategy:
    """Somebody outside gives the scores, and may know all that is measured."""
    return Strategy(
        pick=PICKERS["weighted_random"],
        mode=mode,
        compares_prices=True,
        score=SCORERS["told"],
        reads=frozenset((Signal.IN_FLIGHT, Signal.TTFT, Signal.FAILURES, Signal.RATE_LIMITS)),
        opinion=opinion,
    )


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "weighted": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.WEIGHTED),
        "round_robin": Strategy(pick=PICKERS["smooth_round_robin"], mode=DecisionMode.ROUND_ROBIN),
        "failover": Strategy(pick=PICKERS["first"], mode=DecisionMode.FAILOVER),
        "cost": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.COST, compares_prices=True),
        "inverse_square": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.INVERSE_SQUARE,
            compares_prices=True,
            by_cost=costs.inverse_square,
        ),
        "least_busy": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.LEAST_BUSY,
            score=SCORERS["least_busy"],
            reads=frozenset((Signal.IN_FLIGHT,)),
        ),
        "p2c": Strategy(
            pick=PICKERS["two_choices"],
            mode=DecisionMode.P2C,
            compares_prices=True,
            score=SCORERS["p2c"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFB, Signal.FAILURES)),
            affinity=AffinityMode.STRICT,
            remembers_sessions=True,
        ),
        "blend": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.BLEND,
            compares_prices=True,
            score=SCORERS["blend"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFT)),
            remembers_sessions=True,
            compares_prefixes=True,
        ),
        "market": Strategy(
            pick=PICKERS["rendezvous"],
            mode=DecisionMode.MARKET,
            compares_prices=True,
            score=SCORERS["market"],
            reads=frozenset(
                (
                    Signal.IN_FLIGHT,
                    Signal.TTFT,
                    Signal.LOAD_SLOPE,
                    Signal.FAILURES,
                    Signal.RATE_LIMITS,
                    Signal.MONEY,
                    Signal.QUALITY,
                )
            ),
            affinity=AffinityMode.ECONOMIC,
            remembers_sessions=True,
            compares_prefixes=True,  # also where cached input costs the same: it comes sooner
            cooldown=MARKET,
            draws_gates=False,
        ),
        "dynamic_score": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.SCORE,
            compares_prices=True,
            score=SCORERS["dynamic_score"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.WINDOW)),
            affinity=AffinityMode.PREFIX,
            narrow=narrowed,
        ),
        "plugin": _told(DecisionMode.PLUGIN, opinions.by_plugin),
        "external": _told(DecisionMode.EXTERNAL, opinions.by_service),
    }
)

ON_REQUEST: Mapping[str, Strategy] = MappingProxyType(  # no group has them: all of its traffic would go to one target
    {
        "latency": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.LATENCY,
            score=SCORERS["latency"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFT, Signal.LOAD_SLOPE)),
        ),
        "throughput": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.THROUGHPUT,
            score=SCORERS["throughput"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFT, Signal.LOAD_SLOPE, Signal.MONEY)),
        ),
    }
)
PRESETS: Mapping[str, Strategy] = MappingProxyType({**STRATEGIES, **ON_REQUEST})

ADAPTIVE = "adaptive"  # one policy of the whole deployment says which of these decides for all groups that name it
ALONE = (*(name for name, row in STRATEGIES.items() if row.opinion is None), ADAPTIVE)  # they ask nobody outside
SELECTORS = ("blend", "p2c", "market")


def equipped(policy: RoutingPolicy, targets: Iterable[Target]) -> RoutingPolicy:
    """The policy of a group of these targets, with all that follows from the strategy it names."""
    row, keeps_sessions = PRESETS[policy.decides], policy.affinity.mode is not AffinityMode.OFF
    named = _named(policy) if row.narrow is not None else frozenset[str]()
    wanted = {
        Detail.TEXT_SIZE: row.compares_prices,
        Detail.SESSION: row.remembers_sessions or keeps_sessions,
        Detail.PREFIX: row.compares_prefixes
        or (row.compares_prices and any(map(_has_discount, targets)))
        or ScoreName.CACHE in named,
        Detail.PROMPT: row.narrow is not None and _looks_at_prompts(policy.dynamic_score, named),
    }
    details = frozenset(detail for detail, is_wanted in wanted.items() if is_wanted)
    reads = row.reads | PRESETS["market"].reads if ScoreName.ADJUSTED_PRICE in named else row.reads
    return structs.replace(policy, compares_prices=row.compares_prices, reads=reads, details=details)


def _named(policy: RoutingPolicy) -> frozenset[str]:
    """All scores that the terms of a policy name."""
    return frozenset(name for term in policy.dynamic_score.terms for name in compiled(term.expression).names)


def _looks_at_prompts(policy: DynamicScore, named: frozenset[str]) -> bool:
    """Whether it matters to any term what a request is about, or how complex it is."""
    return ScoreName.COMPLEXITY in named or any(term.when != ALWAYS for term in policy.terms)


def _has_discount(target: Target) -> bool:
    """Whether input that comes from a cache costs less."""
    rates = None if target.price is None else target.price.rates
    return rates is not None and rates.cache_read < rates.input
