"""What one target charges beside its list price: surcharges, discounts and counts of tokens that differ (pure)."""

import math

from pointsman.domain.outcome import Usage
from pointsman.domain.price import Price, cost_usd

_HALF_LIFE_S = 1_800.0
_PRIOR_ANSWERS = 5.0  # at the list price
_MIN, _MAX = 0.2, 5.0  # beyond, one of both is not the price of this target
_USUAL_FROM, _USUAL_TO = 0.7, 1.4  # outside, somebody should look at the price list


class PriceFactor:
    """The ratio of two decayed sums, so that dear answers count more; drawn toward 1."""

    __slots__ = ("_answers", "_at", "_charged_usd", "_list_usd", "_price")

    def __init__(self, price: Price) -> None:
        self._price = price
        self._answers, self._charged_usd, self._list_usd, self._at = 0.0, 0.0, 0.0, -math.inf

    def is_of(self, price: Price | None) -> bool:
        """Whether it was learned beside that price: beside another one it means nothing."""
        return price is self._price or price == self._price

    def observe(self, usage: Usage, now: float) -> None:
        """A complete answer; one that is free by the list, or whose list price is not known, has no ratio."""
        listed_usd = cost_usd(self._price, usage)
        if usage.charged_usd is None or not listed_usd:
            return
        keep = self._kept(now)
        self._answers = keep * self._answers + 1.0
        self._charged_usd = keep * self._charged_usd + usage.charged_usd
        self._list_usd = keep * self._list_usd + listed_usd
        self._at = max(now, self._at)

    def at(self, now: float) -> float:
        """Times the list price."""
        answers = self._kept(now) * self._answers
        if not answers or not self._list_usd:
            return 1.0
        ratio = self._charged_usd / self._list_usd  # both have lost alike
        return min(max((answers * ratio + _PRIOR_ANSWERS) / (answers + _PRIOR_ANSWERS), _MIN), _MAX)

    def _kept(self, now: float) -> float:
        return math.exp2(min(self._at - now, 0.0) / _HALF_LIFE_S)


def is_off(factor: float) -> bool:
    """So far from the list price that the list is most likely wrong."""
    return not _USUAL_FROM <= factor <= _USUAL_TO
