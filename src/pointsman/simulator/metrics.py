"""The numbers of one run."""

from collections.abc import Sequence

from msgspec import Struct

from pointsman.domain.outcome import OutcomeClass
from pointsman.routing.market.worth import Worth
from pointsman.simulator.plan import Spell
from pointsman.simulator.spells import Attempts
from pointsman.simulator.value import adjusted_usd
from pointsman.simulator.world import Sent, Served

GOOD_TTFT_S = 3.0  # later answers are none that somebody waited for


class Metrics(Struct, frozen=True):
    """Ratios are of all requests. None: not known, or there is nothing to tell."""

    adjusted_usd: float  # per 1,000 requests
    usd: float | None  # per 1,000 good answers; None: there was none
    goodput: float  # answered, and soon enough
    failures: float  # somebody got no answer
    ttft_p50_s: float
    ttft_p95_s: float
    ttft_p99_s: float
    refused: float  # attempts that ended with a 429
    dead: float  # attempts that failed otherwise
    cached: float  # of the tokens of all prompts that were read
    detected_s: float | None
    recovered_s: float | None


def metrics(served: Sequence[Served], worth: Worth, spell: Spell | None) -> Metrics:
    """Of one run; there is at least one request."""
    count = len(served)
    waits_s = sorted([_wait_s(each) for each in served])
    good = sum([each.is_ok and _wait_s(each) <= GOOD_TTFT_S for each in served])
    sent = [attempt for each in served for attempt in each.attempts]
    refused = sum([attempt.outcome_class is OutcomeClass.RATE_LIMITED for attempt in sent])
    answered = sum([attempt.outcome_class is OutcomeClass.OK for attempt in sent])
    attempts = Attempts(sent, served[-1].request.at_s)
    return Metrics(
        adjusted_usd=1_000.0 * sum([adjusted_usd(each, worth) for each in served]) / count,
        usd=1_000.0 * sum([each.usd for each in served]) / good if good else None,
        goodput=good / count,
        failures=sum([not each.is_ok for each in served]) / count,
        ttft_p50_s=_quantile(waits_s, 0.50),
        ttft_p95_s=_quantile(waits_s, 0.95),
        ttft_p99_s=_quantile(waits_s, 0.99),
        refused=refused / count,
        dead=(len(sent) - answered - refused) / count,
        cached=_cached(sent),
        detected_s=None if spell is None else attempts.detected_s(spell),
        recovered_s=None if spell is None else attempts.recovered_s(spell),
    )


def _cached(sent: Sequence[Sent]) -> float:
    usages = [attempt.usage for attempt in sent if attempt.usage is not None]
    read = sum([usage.input_tokens or 0 for usage in usages])
    return sum([usage.cached_tokens or 0 for usage in usages]) / read if read else 0.0


def _wait_s(served: Served) -> float:
    """Until the first token, failed attempts included; of a request without one, until its end."""
    return served.ttft_s if served.ttft_s is not None else served.duration_s


def _quantile(ordered: Sequence[float], ratio: float) -> float:
    return ordered[min(int(ratio * len(ordered)), len(ordered) - 1)]
