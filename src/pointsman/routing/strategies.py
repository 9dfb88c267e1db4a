"""Strategies: named presets of the steps. A name is never special-cased anywhere else."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from pointsman.domain.decision import DecisionMode
from pointsman.routing.pickers import PICKERS, Picker


class Strategy(Struct, frozen=True):
    """What a name stands for."""

    pick: Picker
    mode: DecisionMode
    compares_prices: bool = False  # only the cheapest candidates keep their weight


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "weighted": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.WEIGHTED),
        "round_robin": Strategy(pick=PICKERS["smooth_round_robin"], mode=DecisionMode.ROUND_ROBIN),
        "failover": Strategy(pick=PICKERS["first"], mode=DecisionMode.FAILOVER),
        "cost": Strategy(pick=PICKERS["weighted_random"], mode=DecisionMode.COST, compares_prices=True),
    }
)
