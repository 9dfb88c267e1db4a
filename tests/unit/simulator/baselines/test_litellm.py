"""LiteLLM's strategies: by its source, as it is quoted in the benchmark's notes."""

from collections import Counter

from pointsman.simulator.baselines.litellm import Latency, Shuffle, Usage
from tests.unit.simulator.baselines.playing import FAULT, LIMITED, OK, ok, picks, told
from tests.unit.simulator.simulated import target

AB = [target("a"), target("b")]


def test_shuffle_takes_all_alike() -> None:
    counts = picks(Shuffle(), AB, 2_000)

    assert abs(counts["a"] - 1_000) < 100


def test_rate_limit_cools_down_for_5_s() -> None:
    balancer = Shuffle()
    told(balancer, "a", LIMITED, now=10.0)

    assert set(picks(balancer, AB, 50, now=14.9)) == {"b"}
    assert set(picks(balancer, AB, 50, now=15.0)) == {"a", "b"}


def test_more_than_half_failed_of_five_in_a_minute_cools_down() -> None:
    balancer = Shuffle()
    told(balancer, "a", OK, OK, FAULT, FAULT, now=10.0)
    assert set(picks(balancer, AB, 50, now=10.0)) == {"a", "b"}

    told(balancer, "a", FAULT, now=10.0)

    assert set(picks(balancer, AB, 50, now=10.0)) == {"b"}


def test_failures_of_the_minute_before_do_not_count() -> None:
    balancer = Shuffle()
    told(balancer, "a", FAULT, FAULT, FAULT, FAULT, now=59.0)
    told(balancer, "a", FAULT, now=61.0)

    assert set(picks(balancer, AB, 50, now=61.0)) == {"a", "b"}


def test_who_cools_down_is_used_if_all_do() -> None:
    balancer = Shuffle()
    for name in "ab":
        told(balancer, name, LIMITED)

    assert set(picks(balancer, AB, 50)) == {"a", "b"}


def test_latency_takes_the_lowest_mean_of_the_last_ten_samples_and_nobody_else() -> None:
    balancer = Latency()
    told(balancer, "a", *[ok(9.0)] * 5, *[ok(0.4)] * 10)
    told(balancer, "b", *[ok(0.5)] * 10)

    assert picks(balancer, AB, 50) == Counter(a=50)


def test_latency_takes_a_deployment_without_a_sample_for_one_of_0_s() -> None:
    balancer = Latency()
    told(balancer, "a", ok(0.1))

    assert picks(balancer, AB, 50) == Counter(b=50)


def test_failures_are_no_samples_of_latency() -> None:
    balancer = Latency()
    told(balancer, "a", ok(0.4), FAULT)
    told(balancer, "b", ok(0.35))

    assert picks(balancer, AB, 50) == Counter(b=50)


def test_usage_takes_the_fewest_tokens_of_this_minute() -> None:
    balancer = Usage()
    told(balancer, "a", OK, now=10.0)

    assert picks(balancer, AB, 50, now=59.9) == Counter(b=50)
    assert set(picks(balancer, AB, 50, now=60.0)) == {"a", "b"}


def test_usage_counts_answers_only_so_that_a_black_hole_looks_unused() -> None:
    balancer = Usage()
    told(balancer, "b", OK)
    for _ in range(20):
        balancer.sent("a", 0.0)

    assert picks(balancer, AB, 50) == Counter(a=50)
