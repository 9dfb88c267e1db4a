"""What a simulated request was worth: money, time and failures, all in USD."""

from collections.abc import Sequence

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import Market
from pointsman.domain.price import Price
from pointsman.routing.market.worth import Worth, reference_usd, worth
from pointsman.simulator.request import Request
from pointsman.simulator.world import Served

_VISIBLE_FAILURE = 20.0  # references: nobody got an answer, and somebody saw it


def worth_of(requests: Sequence[Request], prices: Sequence[Price | None]) -> Worth:
    """By the mean request and the usual preset, whatever the policies under test are told."""
    mean_input = sum([request.input_tokens for request in requests]) / len(requests)
    mean_output = sum([request.output_tokens for request in requests]) / len(requests)
    return worth(Market(), reference_usd(prices, mean_input, mean_output))


def adjusted_usd(served: Served, of: Worth) -> float:
    """What the request cost, with the time it took and with what went wrong."""
    classes = [attempt.outcome_class for attempt in served.attempts]
    refused = classes.count(OutcomeClass.RATE_LIMITED)
    failed = len(classes) - classes.count(OutcomeClass.OK) - refused
    usd = served.usd + failed * of.fault_usd + refused * of.rejection_usd
    if not served.is_ok or served.ttft_s is None:
        return usd + of.ttft_usd_per_s * served.duration_s + _VISIBLE_FAILURE * of.reference_usd
    return usd + of.ttft_usd_per_s * served.ttft_s + of.decode_usd_per_s * (served.duration_s - served.ttft_s)
