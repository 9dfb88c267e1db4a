"""Step 7: one file per way to pick; none of them knows anything about requests."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pointsman.domain.ports import Rng
from pointsman.routing.pickers import first, rendezvous, smooth_round_robin, two_choices, weighted_random
from pointsman.routing.pickers.pick import Pick

Picker = Callable[[tuple[float, ...], tuple[float, ...], Rng], Pick]  # weights; turn credits, or loads

PICKERS: Mapping[str, Picker] = MappingProxyType(
    {
        "first": first.pick,
        "rendezvous": rendezvous.pick,
        "smooth_round_robin": smooth_round_robin.pick,
        "two_choices": two_choices.pick,
        "weighted_random": weighted_random.pick,
    }
)

__all__ = ["PICKERS", "Pick", "Picker"]
