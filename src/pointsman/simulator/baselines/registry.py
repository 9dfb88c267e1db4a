"""All baselines by the names that the command line knows."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from pointsman.simulator.baselines.balancer import Balancer
from pointsman.simulator.baselines.dynamic_score import DynamicScore
from pointsman.simulator.baselines.gomodel import P2c
from pointsman.simulator.baselines.litellm import Latency, Shuffle, Usage
from pointsman.simulator.baselines.plain import InverseSquare, LeastBusy, RoundRobin, WeightedRandom
from pointsman.simulator.baselines.prequal import Prequal
from pointsman.simulator.baselines.rolter import Blend

BASELINES: Mapping[str, Callable[[], Balancer]] = MappingProxyType(
    {
        "random": WeightedRandom,
        "round-robin": RoundRobin,
        "least-busy": LeastBusy,
        "inverse-square": InverseSquare,
        "litellm-shuffle": Shuffle,
        "litellm-latency": Latency,
        "litellm-usage": Usage,
        "rolter-blend": Blend,
        "gomodel": P2c,
        "gomodel-cost": partial(P2c, objective="cost"),
        "dynamic-score": DynamicScore,
        "prequal": Prequal,
    }
)
CLAIRVOYANT = "clairvoyant"  # the reference, in every comparison
