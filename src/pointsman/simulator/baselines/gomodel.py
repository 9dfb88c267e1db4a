"""Literal: GoModel's adaptive selector, by its document and with its defaults."""

import math
import random
from collections import Counter
from collections.abc import Sequence

from pointsman.domain.conversation import Session
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.target import Target
from pointsman.simulator.baselines.balancer import drawn, price_usd
from pointsman.simulator.request import Request

MIN_WEIGHT_FRACTION = 0.05
COOLDOWN_BASE_S, COOLDOWN_MAX_S = 30.0, 300.0
_FAULTS_IN_A_ROW = 3
_TAU_S = 10.0  # of the peak EWMA; the document names none, this is Finagle's
_AT_ONCE = frozenset((401, 403, 404))


class P2c:
    """Two candidates drawn by weight; the lower latency times requests in flight wins.

    `cost`: the weight is the inverse square of the price, too: at twice the price a quarter. Otherwise `balanced`: the
    mean of both logarithms. A session stays at its target until that cools down.
    """

    def __init__(self, *, objective: str = "balanced") -> None:
        self._objective = objective
        self._in_flight: Counter[str] = Counter()
        self._latencies_s: dict[str, tuple[float, float]] = {}  # and when
        self._faults: Counter[str] = Counter()  # in a row
        self._cooldowns: Counter[str] = Counter()  # in a row
        self._cooling_until: dict[str, float] = {}
        self._homes: dict[str, str] = {}  # by session

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        ready = [target for target in candidates if self._cooling_until.get(target.provider, -math.inf) <= now]
        ready = ready or list(candidates)
        found = self._home(request.session, ready)
        if found is None:
            weights = self.weights(request, ready, now)
            pair = [drawn(ready, weights, chance) for _ in range(2)]
            found = min(pair, key=lambda target: self._load(target.provider, now))
        if request.session is not None:
            self._homes[request.session.key] = found.provider
        return found

    def weights(self, request: Request, candidates: Sequence[Target], now: float) -> list[float]:
        times_s = [self._latency_s(target.provider, now) for target in candidates]
        usd = [price_usd(target, request) for target in candidates]
        fastest_s, cheapest = min(times_s), min(usd)
        power = 1.0 if self._objective == "cost" else 0.5
        found = [
            (fastest_s / time_s * (cheapest / price) ** 2) ** power for time_s, price in zip(times_s, usd, strict=True)
        ]
        floor = MIN_WEIGHT_FRACTION * max(found)
        return [max(weight, floor) for weight in found]

    def sent(self, name: str, now: float) -> None:
        self._in_flight[name] += 1

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self._in_flight[name] -= 1
        sample_s = outcome.duration_s if outcome.ttfb_s is None else outcome.ttfb_s
        before_s, at = self._latencies_s.get(name, (0.0, now))
        keep = math.exp((at - now) / _TAU_S)
        peak_s = sample_s if sample_s > before_s else keep * before_s + (1.0 - keep) * sample_s
        self._latencies_s[name] = (peak_s, now)
        if outcome.outcome_class is OutcomeClass.OK:
            self._faults[name] = self._cooldowns[name] = 0
        else:
            self._fail(name, outcome.status, now)

    def _fail(self, name: str, status: int | None, now: float) -> None:
        if status in _AT_ONCE:
            self._cooling_until[name] = now + COOLDOWN_MAX_S
            return
        self._faults[name] += status != 429
        if status == 429 or self._faults[name] >= _FAULTS_IN_A_ROW:
            self._faults[name] = 0
            until = now + min(COOLDOWN_BASE_S * 2.0 ** self._cooldowns[name], COOLDOWN_MAX_S)
            self._cooldowns[name] += 1
            self._cooling_until[name] = max(until, self._cooling_until.get(name, until))

    def _home(self, session: Session | None, ready: Sequence[Target]) -> Target | None:
        name = None if session is None else self._homes.get(session.key)
        return next((target for target in ready if target.provider == name), None)

    def _latency_s(self, name: str, now: float) -> float:
        known = [value for value, _ in self._latencies_s.values()]
        if name not in self._latencies_s:
            return sum(known) / len(known) if known else 1.0
        return max(self._latencies_s[name][0], 1e-3)

    def _load(self, name: str, now: float) -> float:
        return self._latency_s(name, now) * self._in_flight[name]
