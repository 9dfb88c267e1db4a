"""Attempts that should have had their first content by now: a black hole is seen before any of them fails (pure)."""

from collections.abc import Iterable
from itertools import islice

from pointsman.domain.value import Leaf
from pointsman.signals.slowness import patient_s
from pointsman.signals.target_state import Lease

_PATIENCE_S = 1.0  # nothing is overdue sooner
_PATIENCE_RATIO = 2.5  # times what is expected of the target
_WEIGHT = 0.5  # of each overdue attempt
_MAX_LOOKED_AT = 64  # by then the target is 33 times as slow: more of them change nothing, and cost time


class Overdue(Leaf):
    """How many, and how long they have been waited for on average."""

    count: int = 0
    mean_age_s: float = 0.0

    def slowed(self, expected_s: float) -> float:
        """What is to be expected of a target that keeps these waiting."""
        return max(expected_s, self.mean_age_s) * (1.0 + _WEIGHT * self.count)


NONE_OVERDUE = Overdue()


def overdue(waiting: Iterable[Lease], slowness: float, now: float) -> Overdue:
    """`waiting`: attempts without content, the oldest first; `slowness`: of their target, 1.0 is usual."""
    ages = []
    for lease in islice(waiting, _MAX_LOOKED_AT):
        age_s = now - lease.started_at
        if age_s <= _PATIENCE_S:
            break  # all others are younger
        if lease.facts is not None and age_s > _PATIENCE_RATIO * slowness * patient_s(lease.facts):
            ages.append(age_s)
    return Overdue(len(ages), sum(ages) / len(ages)) if ages else NONE_OVERDUE
