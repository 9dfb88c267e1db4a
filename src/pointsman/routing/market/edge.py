"""The competitive edge: which share of the traffic an adjusted price deserves beside the lowest one."""

from collections.abc import Sequence

_MAX_DISTANCE = 1e6  # beyond, a share is nothing for certain, and powers of it stay finite


def weights(prices_usd: Sequence[float], eps: float, least_usd: float) -> list[float]:
    """1 for the lowest price, a half at `eps` above it, and from there on steeply less; never 0.

    `least_usd`: the lowest price counts as at least this much.
    """
    lowest = max(min(prices_usd), least_usd)
    scale, found = 1.0 / (lowest * eps), []
    for price in prices_usd:
        distance = (price - lowest) * scale if price > lowest else 0.0
        found.append(1.0 / (1.0 + (min(_MAX_DISTANCE, distance)) ** 4))
    return found
