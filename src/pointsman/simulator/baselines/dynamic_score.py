"""Literal: dynamic score routing, by its document and with the policy of its sample."""

import math
import random
from collections import deque
from collections.abc import Sequence

from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.target import Target
from pointsman.domain.value import Value
from pointsman.simulator.baselines.balancer import price_usd
from pointsman.simulator.request import Request

COST, LATENCY, THROUGHPUT, RELIABILITY = 0.45, 0.25, 0.20, 0.10  # the term `cheapest_fast_enough`
MIN_OBSERVATIONS = 20
WINDOW_S = 600.0
MAX_ADJUSTMENT = 0.70
MAX_ERROR_RATIO, MAX_TIMEOUT_RATIO, MAX_P95_S = 0.03, 0.02, 10.0
AFFINITY_TTL_S, AFFINITY_ENTRIES = 600.0, 10_000
_FRESH_S = 10.0  # a window of sixty parts; quantiles are not worked out anew for each request


class _Seen(Value):
    """What a window says of one target; None: nothing."""

    count: int = 0
    error_ratio: float = 0.0
    timeout_ratio: float = 0.0
    p95_s: float | None = None
    tps: float | None = None

    @property
    def is_within(self) -> bool:
        """The thresholds of the sample."""
        is_slow = self.p95_s is not None and self.p95_s > MAX_P95_S
        return self.error_ratio <= MAX_ERROR_RATIO and self.timeout_ratio <= MAX_TIMEOUT_RATIO and not is_slow


_NOTHING = _Seen()


class DynamicScore:
    """Cold targets by weight, else the highest mix of weight and score; a conversation keeps its first pick."""

    def __init__(self) -> None:
        self._ends: dict[str, deque[tuple[float, Outcome]]] = {}
        self._seen: dict[str, _Seen] = {}
        self._seen_at = -math.inf
        self._pins: dict[str, tuple[str, float]] = {}  # by session: whom, and since when

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        self._refresh(now)
        fit = [target for target in candidates if self._of(target).is_within] or list(candidates)
        key = None if request.session is None else request.session.key
        pinned = self._pinned(key, fit, now)
        found = pinned or self._best(request, fit)
        if key is not None and pinned is None:
            self._pins.pop(key, None)
            self._pins[key] = (found.provider, now)
            if len(self._pins) > AFFINITY_ENTRIES:
                del self._pins[next(iter(self._pins))]
        return found

    def scores(self, request: Request, candidates: Sequence[Target]) -> list[float]:
        usd = [price_usd(target, request) for target in candidates]
        seen = [self._of(target) for target in candidates]
        fastest_s = min([each.p95_s for each in seen if each.p95_s is not None], default=1.0)
        most_tps = max([each.tps for each in seen if each.tps is not None], default=1.0)
        return [
            COST * min(usd) / price
            + LATENCY * (0.0 if each.p95_s is None else fastest_s / each.p95_s)
            + THROUGHPUT * (0.0 if each.tps is None else each.tps / most_tps)
            + RELIABILITY * (1.0 - each.error_ratio)
            for price, each in zip(usd, seen, strict=True)
        ]

    def sent(self, name: str, now: float) -> None:
        """An attempt begins."""

    def ended(self, name: str, outcome: Outcome, now: float) -> None:
        self._ends.setdefault(name, deque()).append((now, outcome))

    def _best(self, request: Request, fit: Sequence[Target]) -> Target:
        """Order decides between equals: selection is deterministic."""
        if sum([self._of(target).count for target in fit]) < MIN_OBSERVATIONS:
            return fit[0]  # all weights are equal
        share = 1.0 / len(fit)
        ranks = [(1.0 - MAX_ADJUSTMENT) * share + MAX_ADJUSTMENT * score for score in self.scores(request, fit)]
        return fit[ranks.index(max(ranks))]

    def _pinned(self, key: str | None, fit: Sequence[Target], now: float) -> Target | None:
        name, since = self._pins.get(key or "", ("", -math.inf))
        return next((target for target in fit if target.provider == name and now < since + AFFINITY_TTL_S), None)

    def _of(self, target: Target) -> _Seen:
        return self._seen.get(target.provider, _NOTHING)

    def _refresh(self, now: float) -> None:
        if now < self._seen_at + _FRESH_S:
            return
        self._seen_at = now
        for name, ends in self._ends.items():
            while ends and ends[0][0] < now - WINDOW_S:
                ends.popleft()
            self._seen[name] = _summary([outcome for _, outcome in ends])


def _summary(ends: Sequence[Outcome]) -> _Seen:
    answers = [outcome for outcome in ends if outcome.outcome_class is OutcomeClass.OK]
    count, times_s = len(ends), sorted([outcome.duration_s for outcome in answers])
    written = sum([outcome.usage.output_tokens or 0 for outcome in answers if outcome.usage is not None])
    return _Seen(
        count,
        (count - len(answers)) / count if count else 0.0,
        sum([outcome.detail.startswith("timeout") for outcome in ends]) / count if count else 0.0,
        times_s[int(0.95 * len(times_s))] if times_s else None,
        written / sum(times_s) if times_s else None,
    )
