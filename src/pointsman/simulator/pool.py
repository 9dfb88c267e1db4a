"""The default pool: five targets that differ in price, speed and how much they take."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.config.schema import PriceEntry
from pointsman.simulator.schema import TargetSection


def _target(input_usd: float, output_usd: float, ttft_s: float, tps: float, knee: float) -> TargetSection:
    """USD per million tokens; cached input costs a tenth."""
    price = PriceEntry(input=input_usd, output=output_usd, cache_read=input_usd / 10.0)
    return TargetSection(ttft=ttft_s, tps=tps, knee=knee, price=price)


DEFAULT_POOL: Mapping[str, TargetSection] = MappingProxyType(
    {
        "a": _target(0.50, 1.5, 0.45, 70.0, 60.0),
        "b": _target(0.60, 1.8, 0.30, 110.0, 60.0),
        "c": _target(0.55, 1.6, 0.90, 45.0, 40.0),
        "d": _target(0.90, 2.7, 0.25, 180.0, 80.0),
        "e": _target(0.40, 1.2, 1.40, 30.0, 30.0).model_copy(update={"error_ratio": 0.01}),
    }
)
