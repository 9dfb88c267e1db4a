"""What a baseline is: a rule that picks a target and is told how attempts go."""

import random
from collections.abc import Sequence
from typing import Protocol

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.price import estimate_usd
from pointsman.domain.target import Target
from pointsman.simulator.request import Request


class Balancer(Protocol):
    """Targets are told apart by their providers' names."""

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        """One of those that were not tried yet; there is at least one."""
        ...

    def sent(self, name: str, now: float) -> None: ...
    def ended(self, name: str, outcome: Outcome, now: float) -> None: ...


class Simple:
    """Learns nothing; the others begin with it."""

    def sent(self, name: str, now: float) -> None:
        """An attempt begins."""

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        """An attempt has ended."""


def is_failure(outcome: Outcome) -> bool:
    return outcome.outcome_class is not OutcomeClass.OK


def price_usd(target: Target, request: Request) -> float:
    """What the request would be charged at list price; all targets of a scenario have one."""
    return estimate_usd(target.price, request.input_tokens, request.output_tokens) or 0.0


def drawn(candidates: Sequence[Target], weights: Sequence[float], chance: random.Random) -> Target:
    """In proportion to the weights; all alike if all are 0."""
    if not any(weights):
        return candidates[int(chance.random() * len(candidates))]
    return chance.choices(candidates, weights)[0]
