"""Literal: rules that need no document of their own, and the inverse square of the price."""

import random
from collections import Counter, deque
from collections.abc import Sequence

from pointsman.domain.outcome import Outcome
from pointsman.domain.target import Target
from pointsman.simulator.baselines.balancer import Simple, drawn, is_failure, price_usd
from pointsman.simulator.request import Request

_OUTAGE_WINDOW_S = 30.0


class WeightedRandom(Simple):
    """Equal weights: all targets alike."""

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        return drawn(candidates, [1.0] * len(candidates), chance)


class RoundRobin(Simple):
    """Whoever had the fewest turns is next."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        found = min(candidates, key=lambda target: self._turns[target.provider])
        self._turns[found.provider] += 1
        return found


class LeastBusy(Simple):
    """The fewest requests in flight; chance among equals."""

    def __init__(self) -> None:
        self.in_flight: Counter[str] = Counter()

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        return min(candidates, key=lambda target: (self.in_flight[target.provider], chance.random()))

    def sent(self, name: str, now: float) -> None:
        self.in_flight[name] += 1

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self.in_flight[name] -= 1


class InverseSquare(Simple):
    """OpenRouter's earlier default: no significant outage in the last 30 s, then the inverse square of the price.

    Its document: of providers at $1, $2 and $3 the first one is nine times as likely as the last one. What a
    significant outage is it does not say: here, more failures than answers.
    """

    def __init__(self) -> None:
        self._ends: dict[str, deque[tuple[float, bool]]] = {}

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        stable = [target for target in candidates if not self._is_out(target.provider, now)] or candidates
        return drawn(stable, [price_usd(target, request) ** -2.0 for target in stable], chance)

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self._ends.setdefault(name, deque()).append((now, is_failure(outcome)))

    def _is_out(self, name: str, now: float) -> bool:
        ends = self._ends.get(name, deque())
        while ends and ends[0][0] < now - _OUTAGE_WINDOW_S:
            ends.popleft()
        return 2 * sum([failed for _, failed in ends]) > len(ends)
