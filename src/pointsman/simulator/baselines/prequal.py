"""Literal: Prequal (NSDI 2024), with what a gateway knows itself in place of probes, which paid APIs do not answer."""

import random
from collections import Counter, deque
from collections.abc import Sequence
from statistics import median

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.target import Target
from pointsman.simulator.request import Request

HOT_QUANTILE = 2.0**-0.25  # of requests in flight: above, a replica is hot
POOL = 16  # probes that are remembered
PROBES = 3  # for each request


class Prequal:
    """Of some targets the cold one with the lowest latency; if all are hot, the one with the fewest in flight."""

    def __init__(self) -> None:
        self._in_flight: Counter[str] = Counter()
        self._latencies_s: dict[str, deque[float]] = {}
        self._loads: deque[int] = deque(maxlen=POOL * PROBES)

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        probed = chance.sample(list(candidates), min(PROBES, len(candidates)))
        loads = [self._in_flight[target.provider] for target in probed]
        self._loads.extend(loads)
        limit = sorted(self._loads)[int(HOT_QUANTILE * (len(self._loads) - 1))]
        cold = [target for target, load in zip(probed, loads, strict=True) if load <= limit]
        if cold:
            return min(cold, key=lambda target: self._latency_s(target.provider))
        return min(probed, key=lambda target: self._in_flight[target.provider])

    def sent(self, name: str, now: float) -> None:
        self._in_flight[name] += 1

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self._in_flight[name] -= 1
        if outcome.outcome_class is OutcomeClass.OK and outcome.ttft_s is not None:
            self._latencies_s.setdefault(name, deque(maxlen=POOL)).append(outcome.ttft_s)

    def _latency_s(self, name: str) -> float:
        samples = self._latencies_s.get(name)
        return median(samples) if samples else 0.0
