"""What an endpoint answers."""

from collections import Counter
from statistics import median

import pytest

from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass
from pointsman.simulator.endpoint import Endpoint
from pointsman.simulator.request import Request
from tests.unit.simulator.simulated import endpoint, request


def outcomes(of: Endpoint, count: int = 400, now: float = 0.0, **fields: object) -> list[Outcome]:
    """Of so many requests, one by one."""
    return [of.foresee(request(f"{number}.0", **fields), 0, now).outcome for number in range(count)]


def usual_ttft_s(of: Endpoint, **fields: object) -> float:
    return median([found.ttft_s or 0.0 for found in outcomes(of, **fields)])


def crowded(of: Endpoint, in_flight: int) -> Endpoint:
    of.in_flight = in_flight
    return of


def test_first_token_takes_the_setup_and_the_prompt() -> None:
    assert usual_ttft_s(endpoint(ttft_s=0.5, prefill_tps=1_000.0), input_tokens=1_000) == pytest.approx(1.5, rel=0.05)


def test_at_the_knee_the_first_token_takes_twice_as_long_and_writing_too() -> None:
    idle, busy = endpoint(knee=40.0), crowded(endpoint(knee=40.0), 40)

    assert usual_ttft_s(busy) == pytest.approx(2.0 * usual_ttft_s(idle))
    first, second = outcomes(idle)[0], outcomes(busy)[0]
    assert second.duration_s == pytest.approx(2.0 * first.duration_s)


def test_load_is_convex_beyond_the_knee() -> None:
    assert usual_ttft_s(crowded(endpoint(knee=40.0), 80)) == pytest.approx(9.0 * usual_ttft_s(endpoint(knee=40.0)))


def test_slow_endpoint_reads_and_writes_slowly() -> None:
    usual, slow = outcomes(endpoint())[0], outcomes(endpoint(slow=5.0))[0]

    assert slow.duration_s == pytest.approx(5.0 * usual.duration_s)


def test_foreseeing_is_what_then_happens_and_changes_nothing() -> None:
    of = endpoint(error_ratio=0.5, max_rps=100.0)
    asked = [request(f"{number}.0") for number in range(50)]

    foreseen = [of.foresee(each, 0, 0.0) for each in asked for _ in range(2)]

    assert foreseen[0] == of.take(asked[0], 0, 0.0)
    assert of.in_flight == 1


def test_errors_come_at_their_ratio_and_with_their_statuses() -> None:
    found = outcomes(endpoint(error_ratio=0.3, error_statuses=((500, 3.0), (503, 1.0))), 2_000)
    statuses = Counter(each.status for each in found)

    assert statuses[500] / 2_000 == pytest.approx(0.225, abs=0.03)
    assert statuses[503] / 2_000 == pytest.approx(0.075, abs=0.02)
    assert {each.outcome_class for each in found if each.status != 200} == {OutcomeClass.UPSTREAM_FAULT}


def test_refused_key_is_what_production_makes_of_it() -> None:
    (found,) = outcomes(endpoint(error_ratio=1.0, error_statuses=((401, 1.0),)), 1)

    assert found.outcome_class is OutcomeClass.CREDENTIAL_FAULT
    assert found.confirmed


def test_above_the_limit_it_refuses_in_80_ms_and_says_when_to_come_back() -> None:
    of = endpoint(max_rps=2.0, retry_after_s=7.0, tells_limits=True)
    taken = [of.take(request(f"{number}.0"), 0, 0.0).outcome for number in range(3)]

    assert [each.status for each in taken] == [200, 200, 429]
    refused = taken[-1]
    assert (refused.outcome_class, refused.duration_s, refused.retry_after_s) == (OutcomeClass.RATE_LIMITED, 0.08, 7.0)
    assert [(told.unit, told.remaining) for told in refused.told_limits] == [(LimitedUnit.REQUESTS, 0.0)]


def test_refused_request_takes_nothing_of_the_limit() -> None:
    of = endpoint(max_tps=1_000.0)
    taken = [of.take(request(f"{number}.0", input_tokens=800), 0, at) for number, at in enumerate((0.0, 0.1, 0.7))]

    assert [each.outcome.status for each in taken] == [200, 429, 200]


def test_limit_that_rises_admits_more_at_once() -> None:
    of = endpoint(max_rps=1.0)
    of.take(request("1.0"), 0, 0.0)

    of.become(endpoint(max_rps=8.0).profile, 0.0)

    assert of.take(request("2.0"), 0, 0.0).outcome.status == 200


def test_black_hole_ends_with_the_timeout_and_without_a_first_token() -> None:
    (found,) = outcomes(endpoint(black_hole=True), 1)

    assert (found.outcome_class, found.detail, found.duration_s, found.ttft_s, found.committed) == (
        OutcomeClass.UPSTREAM_FAULT, "timeout_first_content", 20.0, None, False,
    )  # fmt: skip


def test_first_token_that_would_come_too_late_is_a_timeout_too() -> None:
    (found,) = outcomes(endpoint(slow=100.0), 1)

    assert found.detail == "timeout_first_content"


def test_stall_breaks_after_the_first_token_once_it_was_silent_for_too_long() -> None:
    (found,) = outcomes(endpoint(stalls=True), 1)

    assert (found.outcome_class, found.detail, found.committed) == (OutcomeClass.BROKEN_STREAM, "timeout_idle", True)
    assert found.ttft_s is not None
    assert found.duration_s == pytest.approx(found.ttft_s + 20.0)


def test_stream_that_breaks_is_charged_for_what_was_written() -> None:
    found = [each for each in outcomes(endpoint(break_ratio=0.2)) if each.outcome_class is OutcomeClass.BROKEN_STREAM]

    assert len(found) == pytest.approx(80, abs=25)
    assert all(each.usage is not None and 0 < (each.usage.output_tokens or 0) <= 200 for each in found)


def long(number: int, blocks: int) -> Request:
    return request(f"{number}.0", input_tokens=512 * blocks + 100, blocks=tuple(range(blocks)))


def test_prompt_that_was_read_before_is_read_faster_and_told_as_cached() -> None:
    of = endpoint(cache_ttl_s=300.0)
    of.take(long(1, 4), 0, 0.0)

    usage = of.foresee(long(2, 6), 0, 299.0).outcome.usage

    assert usage is not None
    assert usage.cached_tokens == 4 * 512
    assert of.warm_tokens(long(2, 6), 301.0) == 0


def test_cache_of_an_endpoint_without_one_stays_empty() -> None:
    of = endpoint()
    of.take(long(1, 4), 0, 0.0)

    assert of.warm_tokens(long(2, 4), 0.0) == 0


def test_attempt_that_fails_before_the_prompt_is_read_warms_nothing() -> None:
    of = endpoint(cache_ttl_s=300.0, error_ratio=1.0)
    of.take(long(1, 4), 0, 0.0)

    assert of.warm_tokens(long(2, 4), 1.0) == 0
