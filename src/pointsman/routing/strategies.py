"""Strategies: named presets of the steps. A name is never special-cased anywhere else."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from pointsman.domain.decision import DecisionMode
from pointsman.domain.view import Signal
from pointsman.routing.pickers import PICKERS, Picker
from pointsman.routing.scorers import SCORERS, Scorer


class Strategy(Struct, frozen=True):
    """What a name stands for."""

    pick: Picker
    mode: DecisionMode
    compares_prices: bool = False  # what each candidate would charge is estimated
    score: Scorer | None = None  # None: weights decide; of the cheapest candidates alone if prices are compared
    reads: frozenset[Signal] = frozenset()  # what is measured for the scorer; nothing else is


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "weighted": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.WEIGHTED),
        "round_robin": Strategy(pick=PICKERS["smooth_round_robin"], mode=DecisionMode.ROUND_ROBIN),
        "failover": Strategy(pick=PICKERS["first"], mode=DecisionMode.FAILOVER),
        "cost": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.COST, compares_prices=True),
        "least_busy": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.LEAST_BUSY,
            score=SCORERS["least_busy"],
            reads=frozenset((Signal.IN_FLIGHT,)),
        ),
        "p2c": Strategy(
            pick=PICKERS["two_choices"],
            mode=DecisionMode.P2C,
            score=SCORERS["p2c"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFB, Signal.FAILURES)),
        ),
        "blend": Strategy(
            pick=PICKERS["weighted_random"],
            mode=DecisionMode.BLEND,
            compares_prices=True,
            score=SCORERS["blend"],
            reads=frozenset((Signal.IN_FLIGHT, Signal.TTFT)),
        ),
    }
)
