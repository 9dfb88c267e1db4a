"""Literal: Rolter's adaptive strategy, by its document and with the numbers of its own example."""

import random
from collections import Counter
from collections.abc import Sequence

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.target import Target
from pointsman.simulator.baselines.balancer import drawn
from pointsman.simulator.request import Request

LATENCY_WEIGHT, COST_WEIGHT, LOAD_WEIGHT = 1.0, 0.5, 0.25
EXPLORATION_RATIO = 0.05
MIN_SAMPLES = 50
_KEEP = 0.9  # of a latency, at each sample: the document says "observed latency" and no more


class Blend:
    """The highest weighted sum of three scores, but for the share that goes to its rivals.

    Until a route has served `min_samples` requests, and two targets have a latency, its fallback decides: by weight.
    """

    def __init__(self) -> None:
        self._served = 0
        self._latencies_s: dict[str, float] = {}
        self._in_flight: Counter[str] = Counter()

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        if self._served < MIN_SAMPLES or len(self._latencies_s) < 2:
            return drawn(candidates, [1.0] * len(candidates), chance)
        scores = self.scores(candidates)
        best = scores.index(max(scores))
        if len(candidates) > 1 and chance.random() < EXPLORATION_RATIO:
            return drawn(candidates, [float(index != best) for index in range(len(candidates))], chance)
        return candidates[best]

    def scores(self, candidates: Sequence[Target]) -> list[float]:
        """Each signal in [0, 1], 1 for the best one; unknown latency is as good as the best."""
        times_s = [self._latencies_s.get(target.provider) for target in candidates]
        fastest_s = min([time_s for time_s in times_s if time_s is not None], default=1.0)
        per_mtok = [_per_mtok_usd(target) for target in candidates]
        most = max(self._in_flight[target.provider] for target in candidates)
        return [
            LATENCY_WEIGHT * (1.0 if time_s is None else fastest_s / time_s)
            + COST_WEIGHT * (min(per_mtok) / usd)
            + LOAD_WEIGHT * (1.0 - self._in_flight[target.provider] / (most + 1))
            for target, time_s, usd in zip(candidates, times_s, per_mtok, strict=True)
        ]

    def sent(self, name: str, now: float) -> None:
        self._in_flight[name] += 1

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self._in_flight[name] -= 1
        if outcome.outcome_class is OutcomeClass.OK and outcome.ttft_s is not None:
            self._served += 1
            before = self._latencies_s.get(name, outcome.ttft_s)
            self._latencies_s[name] = _KEEP * before + (1.0 - _KEEP) * outcome.ttft_s


def _per_mtok_usd(target: Target) -> float:
    """`cost_per_mtok`: one number, so the mean of input and output."""
    rates = target.price.rates if target.price is not None else None
    return 0.0 if rates is None else (rates.input + rates.output) / 2.0
