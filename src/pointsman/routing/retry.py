"""What to do after a failed attempt, and what to tell the caller when nothing is left to do."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pointsman.domain.errors import ErrorKind, GatewayError, ProviderRefusalError
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.routing.refusals import CONTEXT_CODE, Cause, cause
from pointsman.routing.unavailable import misconfigured, rate_limited

# failures after which the same target may be asked again, when no other one is left
_RETRYABLE_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
_RETRYABLE_DETAILS = frozenset(("connect_refused", "connect_timeout", "dns", "tls", "unreachable", "closed"))

_FIRST_ERROR = 400

_OURS = frozenset((OutcomeClass.CREDENTIAL_FAULT, OutcomeClass.MISSING))
_THE_REQUESTS = frozenset((OutcomeClass.BLOCKED, OutcomeClass.CONFLICT, OutcomeClass.CALLER_FAULT))


# what a failure means for the request: another target may serve it
GOES_ON: Mapping[OutcomeClass, bool] = MappingProxyType(
    {
        OutcomeClass.OK: False,
        OutcomeClass.BROKEN_STREAM: True,
        OutcomeClass.BAD_PAYLOAD: True,
        OutcomeClass.CALLER_FAULT: False,
        OutcomeClass.CONFLICT: True,
        OutcomeClass.CREDENTIAL_FAULT: True,
        OutcomeClass.BLOCKED: True,
        OutcomeClass.MISSING: True,
        OutcomeClass.RATE_LIMITED: True,
        OutcomeClass.UPSTREAM_FAULT: True,
        OutcomeClass.CALLER_GONE: False,
    }
)


def may_go_on(outcome: Outcome) -> bool:
    """Whether there may be another attempt. After the first content nothing is ever sent again (I1)."""
    return not outcome.committed and GOES_ON[outcome.outcome_class]


def may_repeat(outcome: Outcome) -> bool:
    """Whether the same target may be asked again."""
    return outcome.status in _RETRYABLE_STATUSES or outcome.detail in _RETRYABLE_DETAILS


def final_error(group_name: str, outcomes: Sequence[Outcome], *, soonest_s: float) -> GatewayError:
    """The most useful error for a caller whose attempts all failed (B-09): one that heals beats one that does not.

    `soonest_s`: until the first target of the group takes requests again.
    """
    classes = {outcome.outcome_class for outcome in outcomes}
    if classes <= _OURS:
        return misconfigured(group_name)
    classes -= _OURS
    if len(classes) > 1:
        classes.discard(OutcomeClass.CALLER_FAULT)  # too long for a smaller one: the others say what can be mended
    if classes == {OutcomeClass.RATE_LIMITED}:
        return rate_limited(group_name, soonest_s)
    if classes <= _THE_REQUESTS:
        return refusal(next(outcome for outcome in reversed(outcomes) if outcome.outcome_class in _THE_REQUESTS))
    tries = f"{len(outcomes)} attempt{'s' if len(outcomes) > 1 else ''}"
    message = f"The upstreams of '{group_name}' failed ({tries}); the request may be sent again."
    return GatewayError(ErrorKind.UPSTREAM_ERROR, message, retry_after_s=1.0)


def refusal(outcome: Outcome) -> GatewayError:
    """A provider's 4xx that is the caller's to mend, in the provider's own words."""
    error = outcome.error
    message = error.message if error else "The provider refused the request without a reason."
    status = (
        outcome.status if outcome.status is not None and outcome.status >= _FIRST_ERROR else None
    )  # it came in a 200
    return ProviderRefusalError(
        status or ErrorKind.BAD_REQUEST.value.status,
        message,
        type_=error.type if error else None,
        code=CONTEXT_CODE if cause(outcome) is Cause.CONTEXT else error.code if error else None,
        param=error.param if error else None,
    )
