"""The numbers of a run, counted by hand."""

import pytest

from pointsman.domain.outcome import OutcomeClass, Usage
from pointsman.routing.market.worth import Worth
from pointsman.simulator.metrics import metrics
from pointsman.simulator.value import adjusted_usd, worth_of
from pointsman.simulator.world import Sent, Served
from tests.unit.simulator.simulated import request, target

WORTH = Worth(reference_usd=1.0, ttft_usd_per_s=0.5, decode_usd_per_s=0.05)
OK, FAULT, LIMITED = OutcomeClass.OK, OutcomeClass.UPSTREAM_FAULT, OutcomeClass.RATE_LIMITED


def served(*ends: OutcomeClass, ttft_s: float | None = 1.0, duration_s: float = 3.0) -> Served:
    attempts = [Sent(0.0, "a", end, 0.25 if end is OK else 0.0) for end in ends]
    return Served(request(), attempts, ends[-1] is OK, ttft_s, duration_s)


def test_good_answer_costs_its_tokens_and_its_time() -> None:
    assert adjusted_usd(served(OK), WORTH) == pytest.approx(0.25 + 0.5 * 1.0 + 0.05 * 2.0)


def test_attempts_that_failed_or_were_refused_have_their_penalties() -> None:
    extra = adjusted_usd(served(FAULT, LIMITED, OK), WORTH) - adjusted_usd(served(OK), WORTH)

    assert extra == pytest.approx(1.0 + 0.25)


def test_failure_that_somebody_saw_costs_twenty_references_more() -> None:
    assert adjusted_usd(served(FAULT, ttft_s=None), WORTH) == pytest.approx(1.0 + 0.5 * 3.0 + 20.0)


def test_stream_that_broke_was_waited_for_to_its_end() -> None:
    broken = served(OutcomeClass.BROKEN_STREAM, ttft_s=1.0)

    assert adjusted_usd(broken, WORTH) == pytest.approx(1.0 + 0.5 * 3.0 + 20.0)


def test_reference_is_the_mean_request_at_the_middle_of_the_pool() -> None:
    requests = [request(input_tokens=1_000, output_tokens=0), request(input_tokens=3_000, output_tokens=0)]

    found = worth_of(requests, [target(name, usd).price for name, usd in (("a", 1.0), ("b", 2.0), ("c", 9.0))])

    assert found.reference_usd == pytest.approx(2_000 * 2.0 / 1e6)
    assert found.ttft_usd_per_s == pytest.approx(0.5 * found.reference_usd)
    assert found.decode_usd_per_s == pytest.approx(0.05 * found.reference_usd)


def test_ratios_are_of_all_requests() -> None:
    late = served(OK, ttft_s=3.5, duration_s=4.0)
    found = metrics([served(OK), served(FAULT, LIMITED, OK), late, served(FAULT, ttft_s=None)], WORTH, None)

    assert (found.goodput, found.failures, found.refused, found.dead) == (0.5, 0.25, 0.25, 0.5)
    assert found.usd == pytest.approx(1_000 * 0.75 / 2)
    assert (found.detected_s, found.recovered_s) == (None, None)


def test_request_without_an_answer_was_waited_for_until_its_end() -> None:
    found = metrics([served(OK), served(FAULT, ttft_s=None, duration_s=60.0)], WORTH, None)

    assert (found.ttft_p50_s, found.ttft_p99_s) == (60.0, 60.0)


def test_cost_of_a_good_answer_is_not_known_without_any() -> None:
    assert metrics([served(FAULT, ttft_s=None)], WORTH, None).usd is None


def test_share_of_cached_tokens_is_of_all_prompts_that_were_read() -> None:
    cold, warm = Usage(1_000, 10, 0), Usage(3_000, 10, 2_000)
    attempts = [Sent(0.0, "a", OK, 0.1, cold), Sent(0.0, "a", FAULT, 0.0), Sent(0.0, "a", OK, 0.1, warm)]

    found = metrics([Served(request(), attempts, is_ok=True, ttft_s=1.0, duration_s=3.0)], WORTH, None)

    assert found.cached == 0.5
