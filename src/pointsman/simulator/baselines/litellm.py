"""Literal: the routing strategies of LiteLLM 1.110, with the cooldown that all of them share."""

import math
import random
from collections import Counter, deque
from collections.abc import Sequence

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.target import Target
from pointsman.simulator.baselines.balancer import drawn, is_failure
from pointsman.simulator.request import Request

_MINUTE_S = 60.0
_COOLDOWN_S = 5.0
_MAX_FAILED_RATIO = 0.5  # of a minute
_MIN_REQUESTS = 5  # in it
_SAMPLES = 10
_BUFFER = 0.0  # of the lowest latency: who is no slower than that is picked from


class Shuffle:
    """`simple-shuffle`: by weight, here equal ones, among those that are not cooling down."""

    def __init__(self) -> None:
        self._minute, self._all, self._failed = -1, Counter[str](), Counter[str]()
        self._cooling_until: dict[str, float] = {}

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        warm = [target for target in candidates if self._cooling_until.get(target.provider, -math.inf) <= now]
        return self._among(warm or candidates, now, chance)

    def _among(self, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        return drawn(candidates, [1.0] * len(candidates), chance)

    def sent(self, name: str, now: float) -> None:
        """An attempt begins."""

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        """A cooldown of 5 s begins with a 429, or with more than half of at least five requests of this minute."""
        self._turn_over(now)
        self._all[name] += 1
        self._failed[name] += is_failure(outcome)
        many = self._all[name] >= _MIN_REQUESTS and self._failed[name] > _MAX_FAILED_RATIO * self._all[name]
        if outcome.outcome_class is OutcomeClass.RATE_LIMITED or (many and is_failure(outcome)):
            self._cooling_until[name] = now + _COOLDOWN_S

    def _turn_over(self, now: float) -> None:
        minute = int(now // _MINUTE_S)
        if minute != self._minute:
            self._minute, self._all, self._failed = minute, Counter(), Counter()
            self._forget()

    def _forget(self) -> None:
        """A minute has passed: its buckets begin anew."""


class Latency(Shuffle):
    """`latency-based-routing`: the lowest mean of the last ten samples; a deployment without any counts as 0 s."""

    def __init__(self) -> None:
        super().__init__()
        self._samples: dict[str, deque[float]] = {}

    def _among(self, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        means_s = [self._mean_s(target.provider) for target in candidates]
        limit_s = min(means_s) * (1.0 + _BUFFER)
        return drawn(candidates, [float(mean_s <= limit_s) for mean_s in means_s], chance)

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        super().ended(name, outcome, now)
        if not is_failure(outcome) and outcome.ttft_s is not None:
            self._samples.setdefault(name, deque(maxlen=_SAMPLES)).append(outcome.ttft_s)

    def _mean_s(self, name: str) -> float:
        samples = self._samples.get(name)
        return sum(samples) / len(samples) if samples else 0.0


class Usage(Shuffle):
    """`usage-based-routing`: the fewest tokens of this minute, counted when answers are complete."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: Counter[str] = Counter()

    def _among(self, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        self._turn_over(now)
        lowest = min(self._tokens[target.provider] for target in candidates)
        return drawn(candidates, [float(self._tokens[target.provider] == lowest) for target in candidates], chance)

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        super().ended(name, outcome, now)
        usage = outcome.usage
        if usage is not None and not is_failure(outcome):
            self._tokens[name] += (usage.input_tokens or 0) + (usage.output_tokens or 0)

    def _forget(self) -> None:
        self._tokens = Counter()
