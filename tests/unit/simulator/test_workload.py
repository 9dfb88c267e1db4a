"""What arrives."""

from collections import Counter
from itertools import pairwise
from statistics import mean, variance

from pointsman.simulator.workload import Bursts, Sessions, Workload, requests_of

HOUR = Workload(rate_per_s=5.0, duration_s=3_600.0, lengths="azure_conv")


def per_second(workload: Workload) -> list[int]:
    counts = Counter(int(request.at_s) for request in requests_of(workload, 1))
    return [counts[second] for second in range(int(workload.duration_s))]


def test_equal_seeds_give_equal_requests_and_others_do_not() -> None:
    short = Workload(rate_per_s=5.0, duration_s=60.0, lengths="azure_conv")

    assert requests_of(short, 7) == requests_of(short, 7) != requests_of(short, 8)


def test_poisson_arrivals_have_the_rate_and_no_bursts() -> None:
    counts = per_second(HOUR)

    assert abs(mean(counts) - 5.0) < 0.2
    assert abs(variance(counts) / mean(counts) - 1.0) < 0.15


def test_bursts_have_the_wanted_mean_and_variance() -> None:
    counts = per_second(Workload(2.57, 36_000.0, "azure_code", bursts=Bursts(fano=13.0, burst_s=10.0)))

    assert abs(mean(counts) - 2.57) < 0.3
    assert 10.0 < variance(counts) / mean(counts) < 15.0


def test_each_turn_of_a_session_begins_with_the_prompt_before_it() -> None:
    workload = Workload(2.0, 600.0, "azure_conv", sessions=Sessions(turns=4.0, think_s=10.0, grows_tokens=600))
    requests = requests_of(workload, 1)
    turns: dict[str, list[tuple[int, ...]]] = {}

    for request in requests:
        assert request.session is not None
        turns.setdefault(request.session.key, []).append(request.blocks)

    longest = max(turns.values(), key=len)
    assert len(longest) > 4
    for earlier, later in pairwise(longest):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)
    assert [request.at_s for request in requests] == sorted(request.at_s for request in requests)


def test_sessions_leave_the_rate_of_requests_as_it_is() -> None:
    workload = Workload(2.0, 7_200.0, "azure_conv", sessions=Sessions(turns=4.0, think_s=5.0, grows_tokens=600))

    assert abs(len(requests_of(workload, 1)) / 7_200.0 - 2.0) < 0.2


def test_prompts_of_two_sessions_share_nothing() -> None:
    workload = Workload(2.0, 100.0, "mooncake", sessions=Sessions(turns=1.0, think_s=5.0, grows_tokens=600))
    blocks = [block for request in requests_of(workload, 1) for block in request.blocks]

    assert len(set(blocks)) == len(blocks)
