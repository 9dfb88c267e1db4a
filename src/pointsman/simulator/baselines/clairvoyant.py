"""The reference: sees what this request would meet at every endpoint, and takes the best. Greedy, so not optimal."""

import random
from collections.abc import Sequence

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.price import cost_usd
from pointsman.domain.target import Target
from pointsman.routing.market.worth import Worth
from pointsman.simulator.baselines.balancer import Simple
from pointsman.simulator.endpoint import Answer
from pointsman.simulator.nodes import Foresee
from pointsman.simulator.request import Request


class Clairvoyant(Simple):
    """What its pick does to later requests it does not see: under overload others can do better."""

    def __init__(self, foresee: Foresee, worth: Worth) -> None:
        self._foresee, self._worth = foresee, worth

    def pick(self, request: Request, candidates: Sequence[Target], now: float, chance: random.Random) -> Target:
        return min(candidates, key=lambda target: self._rank(request, target))

    def _rank(self, request: Request, target: Target) -> tuple[int, float]:
        """Good answers first, then failures that another target can still mend."""
        answer = self._foresee(request, target.provider, 0)
        worth, outcome = self._worth, answer.outcome
        usd = cost_usd(target.price, outcome.usage) or 0.0
        ttft_s = outcome.duration_s if answer.first_s is None else answer.first_s
        usd += worth.ttft_usd_per_s * ttft_s + worth.decode_usd_per_s * (outcome.duration_s - ttft_s)
        return _order(answer), usd + (worth.fault_usd if _is_fault(answer) else 0.0)


def _order(answer: Answer) -> int:
    if answer.outcome.outcome_class is OutcomeClass.OK:
        return 0
    return 2 if answer.outcome.committed else 1


def _is_fault(answer: Answer) -> bool:
    return answer.outcome.outcome_class not in {OutcomeClass.OK, OutcomeClass.RATE_LIMITED}
