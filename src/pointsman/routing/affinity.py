"""Step 5: is this conversation at home somewhere?

A pin never empties the candidates: one that cannot be used is skipped, and one that is worth nothing any more released.
"""

from collections.abc import Sequence

from pointsman.domain.conversation import Session
from pointsman.domain.decision import AffinityOutcome, Decision, DecisionMode, Exclusion, PinUse
from pointsman.domain.policy import Affinity, AffinityMode, PinRecord
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import Breaker, GroupView
from pointsman.routing.availability import RULE_OF_LIMIT

STAYS_WITHIN = 1.1  # times the best price: for less than a tenth a session does not wander (hysteresis)
DEARER = "dearer"  # why an economic pin is released; every other reason is the name of an exclusion

_PASSES = frozenset((Exclusion.TRIED, Exclusion.HELD_BACK, *RULE_OF_LIMIT.values()))  # the next turn may be there again
_TRIALS = frozenset((DecisionMode.PROBE, DecisionMode.EXPLORATION))  # one request for all: no session moves for it
_FIRM = frozenset((AffinityMode.STRICT, AffinityMode.PREFIX))  # no cheaper or faster rival takes their pins (G-082)


def is_firm(group: ModelGroup) -> bool:
    """Whether a session's target is kept before anything is compared."""
    return group.policy.affinity.mode in _FIRM


def is_economic(group: ModelGroup) -> bool:
    """Whether it is kept as long as it is not much dearer than the cheapest."""
    return group.policy.affinity.mode is AffinityMode.ECONOMIC


def holds(group: ModelGroup) -> bool:
    """Whether a session is bound to its target at all, so that others should do what one request must do for all."""
    return group.policy.affinity.mode is not AffinityMode.OFF


def stays(prices: Sequence[float | None], home: int) -> bool:
    """Whether the candidate at `home` is worth staying with; prices in any one unit, None: not known."""
    known = [price for price in prices if price is not None]
    if not known:
        return True
    price = prices[home]
    return price is not None and price <= STAYS_WITHIN * min(known)


def use_of(session: Session, decision: Decision, view: GroupView, home: int | None, *, is_first: bool) -> PinUse:
    """What became of the session's pin. `home`: its member of the group, None: it has none."""
    policy, reason = decision.group.policy.affinity, None
    may_bind = decision.pick is not None and session.is_worth_keeping
    if policy.mode is AffinityMode.OFF:
        outcome = AffinityOutcome.NONE
    elif home is None:
        outcome = AffinityOutcome.CREATED if may_bind else AffinityOutcome.NONE
    else:
        outcome, reason = _of_pinned(decision, view, home)
    return PinUse(outcome, reason, binds=may_bind and _binds(policy, outcome, is_first=is_first))


def _of_pinned(decision: Decision, view: GroupView, home: int) -> tuple[AffinityOutcome, str | None]:
    pick, target = decision.pick, decision.group.members[home].target
    if pick is None:
        return AffinityOutcome.SKIPPED, None  # nobody can take the request: that moves no session
    if pick.target is target:
        return AffinityOutcome.HONORED, None
    if view.targets[home].breaker is not Breaker.CLOSED:
        return AffinityOutcome.RELEASED, Exclusion.PAUSED  # also when it was tried: this request may have paused it
    rule = next((excluded.rule for excluded in decision.excluded if excluded.target_id == target.id), None)
    if rule in _PASSES or pick.mode in _TRIALS:
        return AffinityOutcome.SKIPPED, None
    return AffinityOutcome.RELEASED, DEARER if rule is None else rule


def _binds(policy: Affinity, outcome: AffinityOutcome, *, is_first: bool) -> bool:
    match outcome:
        case AffinityOutcome.HONORED:
            return policy.slides
        case AffinityOutcome.CREATED | AffinityOutcome.RELEASED:
            return is_first or policy.record is PinRecord.SERVED  # a fallback does not repin what was selected (D-054)
        case AffinityOutcome.NONE:
            return policy.mode is AffinityMode.OFF  # remembered for its warm cache only
        case AffinityOutcome.SKIPPED:
            return False
