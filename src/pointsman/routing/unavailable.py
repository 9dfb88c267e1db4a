"""What to do when every eligible target is unavailable: wait, try the least bad one, or refuse."""

from collections.abc import Sequence

from pointsman.domain.decision import Decision, Exclusion
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.policy import OnAllUnavailable
from pointsman.domain.value import Value
from pointsman.domain.view import GroupView, PauseCause
from pointsman.routing.availability import RULE_OF_LIMIT

_THRESHOLD_RECHECK_S = 10.0  # a sixtieth of the usual window: until then nothing is forgotten
PROBE_RECHECK_S = 0.1  # how long a probe's verdict is waited for before looking again

_PAUSED = frozenset((Exclusion.PAUSED, Exclusion.PROBING))
_COMES_BACK = _PAUSED | frozenset(RULE_OF_LIMIT.values())
_BY_POLICY = frozenset((Exclusion.THRESHOLD, Exclusion.TERM_TAGS))
_MAY_BE_OVER = frozenset((PauseCause.FAULTS, PauseCause.OUTLIER))  # before the pause is
_OUR_FAULT = frozenset((PauseCause.CREDENTIAL, PauseCause.MISSING))


class WaitUntil(Value):
    """The soonest return is near enough."""

    at: float  # monotonic seconds


class TryAnyway(Value):
    """Paused for faults, which may be over: better than a refusal."""

    index: int  # of the group's member


class Refuse(Value):
    """Nothing can be done in time."""

    error: GatewayError


Advice = WaitUntil | TryAnyway | Refuse


def advise(decision: Decision, view: GroupView, *, now: float, wait_limit: float, deadline: float) -> Advice:
    """`wait_limit`: monotonic seconds up to which an automatic wait may last; `deadline`: of the request."""
    mode = decision.group.policy.on_all_unavailable
    members = decision.group.members
    rules = {excluded.target_id: excluded.rule for excluded in decision.excluded}
    returning = [index for index, member in enumerate(members) if rules.get(member.target.id) in _COMES_BACK]
    soonest = min((_returns_at(view, index, now) for index in returning), default=None)
    latest = deadline if mode is OnAllUnavailable.WAIT else min(deadline, wait_limit)
    if soonest is not None and soonest <= latest and mode in (OnAllUnavailable.AUTO, OnAllUnavailable.WAIT):
        return WaitUntil(soonest)
    if mode in (OnAllUnavailable.AUTO, OnAllUnavailable.TRY):
        paused = [index for index in returning if rules[members[index].target.id] in _PAUSED]
        faulty = [index for index in paused if view.targets[index].pause_cause in _MAY_BE_OVER]
        least_bad = faulty or (paused if mode is OnAllUnavailable.TRY else [])
        if least_bad:
            return TryAnyway(min(least_bad, key=lambda index: view.targets[index].paused_until))
    return Refuse(_refusal(decision, view, returning, None if soonest is None else soonest - now))


def soonest_return_s(view: GroupView, members: Sequence[int], now: float) -> float:
    """Seconds until the first of these members takes requests again; 0: now, or there are none."""
    return max(0.0, min((_returns_at(view, index, now) for index in members), default=now) - now)


def _returns_at(view: GroupView, index: int, now: float) -> float:
    target = view.targets[index]
    return now + PROBE_RECHECK_S if target.is_probing else max(target.paused_until, target.limited_until)


def _refusal(decision: Decision, view: GroupView, returning: Sequence[int], soonest_s: float | None) -> GatewayError:
    name = decision.group.name
    if not _BY_POLICY.isdisjoint([excluded.rule for excluded in decision.excluded]):
        return _held_to_policy(name, soonest_s)
    seen = [view.targets[index] for index in returning]
    causes = {target.pause_cause if target.limit is None else PauseCause.RATE_LIMIT for target in seen}
    if causes <= _OUR_FAULT:
        return misconfigured(name)
    if causes - _OUR_FAULT == {PauseCause.RATE_LIMIT}:
        return rate_limited(name, soonest_s)
    message = f"All targets of '{name}' are paused after faults; retry after the time given."
    return GatewayError(ErrorKind.ALL_TARGETS_UNAVAILABLE, message, retry_after_s=soonest_s)


def _held_to_policy(name: str, soonest_s: float | None) -> GatewayError:
    message = (
        f"No target of '{name}' keeps to the thresholds and tags that its policy demands now, and `on_empty` is fail; "
        "the decision record names the rule against each of them."
    )
    retry_after_s = _THRESHOLD_RECHECK_S if soonest_s is None else soonest_s
    return GatewayError(ErrorKind.ALL_TARGETS_UNAVAILABLE, message, retry_after_s=retry_after_s)


def misconfigured(name: str) -> GatewayError:
    """Our own credentials or model names are wrong: never shown as the caller's 401 or 404."""
    message = (
        f"No target of '{name}' accepts the gateway's credentials or knows the model name that is configured for it. "
        "Whoever runs the gateway has to mend its configuration; the decision record names the targets."
    )
    return GatewayError(ErrorKind.UPSTREAM_MISCONFIGURED, message)


def rate_limited(name: str, soonest_s: float | None) -> GatewayError:
    message = f"Every target of '{name}' is at a limit of its requests; retry after the time given."
    return GatewayError(ErrorKind.UPSTREAM_RATE_LIMITED, message, retry_after_s=soonest_s or 1.0)
