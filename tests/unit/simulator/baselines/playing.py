"""Outcomes that baselines are told, and what they pick."""

import random
from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.outcome import Outcome, OutcomeClass, Usage
from pointsman.domain.target import Target
from pointsman.simulator.baselines.balancer import Balancer
from tests.unit.simulator.simulated import request

FAULT = Outcome(OutcomeClass.UPSTREAM_FAULT, status=500, duration_s=0.3, ttfb_s=0.3)
LIMITED = Outcome(OutcomeClass.RATE_LIMITED, status=429, duration_s=0.08, ttfb_s=0.08)
OK = Outcome(OutcomeClass.OK, status=200, committed=True, ttfb_s=1.0, ttft_s=1.0, duration_s=3.0, usage=Usage(900, 100))


def ok(ttft_s: float, duration_s: float | None = None) -> Outcome:
    return structs.replace(
        OK, ttfb_s=ttft_s, ttft_s=ttft_s, duration_s=ttft_s + 2.0 if duration_s is None else duration_s
    )


def told(balancer: Balancer, name: str, *outcomes: Outcome, now: float = 0.0) -> None:
    """Attempts that have ended at once."""
    for outcome in outcomes:
        balancer.sent(name, now)
        balancer.ended(name, outcome, now)


def picks(balancer: Balancer, candidates: Sequence[Target], count: int, now: float = 0.0) -> Counter[str]:
    """Of so many requests that nothing came of yet."""
    chance = random.Random(1)
    return Counter(balancer.pick(request(), candidates, now, chance).provider for _ in range(count))
