"""Whole runs: what is noted of them, and that they can be repeated."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec import structs

from pointsman.domain.outcome import OutcomeClass
from pointsman.routing.exchange import Exchange
from pointsman.signals.board import SignalBoard
from pointsman.simulator import nodes
from pointsman.simulator.plan import Plan
from pointsman.simulator.runs import arrivals, run, value_of
from pointsman.simulator.scenario import load, read
from pointsman.simulator.world import Served

SMALL = "workload: {rate: 5, duration: 60s}\n"


def plan_of(text: str) -> Plan:
    return read("mine", "mine.yaml", SMALL + text, Path())


def served(plan: Plan, policy: str, *, seed: int = 1, replicas: int = 1) -> list[Served]:
    requests = arrivals(plan, seed)
    return run(plan, policy, requests, value_of(plan, requests), seed=seed, replicas=replicas)


@pytest.mark.parametrize("policy", ["market", "random", "clairvoyant"])
def test_every_request_ends_and_every_attempt_is_noted(policy: str) -> None:
    plan = plan_of("")

    found = served(plan, policy)

    assert [each.request.id for each in found] == [request.id for request in arrivals(plan, 1)]
    assert all(each.is_ok and each.attempts and each.ttft_s is not None for each in found)
    assert all(0.0 < (each.ttft_s or 0.0) < each.duration_s for each in found)
    assert all(each.usd > 0.0 for each in found)


def test_product_runs_its_own_exchange_and_signal_board() -> None:
    assert nodes.Exchange is Exchange
    assert nodes.SignalBoard is SignalBoard


@pytest.mark.req("X-13")
@pytest.mark.parametrize("policy", ["market", "p2c", "gomodel", "litellm-shuffle"])
def test_equal_seeds_give_equal_runs_and_others_do_not(policy: str) -> None:
    plan = plan_of("timeline: [{targets: [a], begin: 20s, error_ratio: 0.5}]")

    first, second, other = (served(plan, policy, seed=seed, replicas=2) for seed in (1, 1, 2))

    assert first == second != other


@pytest.mark.req("X-13")
def test_runs_do_not_depend_on_the_process() -> None:
    code = (
        "from pointsman.simulator.command import Wanted, simulate\n"
        "simulate(Wanted(('outage3',), ('market', 'p2c', 'random'), 1, 3, 300, False), print, lambda *_: None)"
    )

    told = [
        subprocess.run(  # noqa: S603  # our own words
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]

    assert told[0] == told[1]
    assert b"market" in told[0]


def test_all_policies_meet_the_same_luck_whomever_they_try_first() -> None:
    plan = plan_of("timeline: [{targets: [a, b, c, d, e], error_ratio: 0.4}]")
    by_policy = [
        {
            (each.request.id, attempt.target): attempt.outcome_class
            for each in served(plan, policy)
            for attempt in each.attempts
        }
        for policy in ("random", "round-robin")
    ]

    both = set(by_policy[0]) & set(by_policy[1])
    assert len(both) > 100
    assert all(by_policy[0][key] is by_policy[1][key] for key in both)


def test_failed_attempt_is_followed_by_one_at_another_target() -> None:
    found = served(plan_of("timeline: [{targets: [a, b, c], error_ratio: 0.9}]"), "random")

    retried = [each for each in found if len(each.attempts) > 1]
    assert retried
    for each in retried:
        targets = [attempt.target for attempt in each.attempts]
        assert len(set(targets)) == len(targets) <= 3
        assert each.attempts[0].outcome_class is OutcomeClass.UPSTREAM_FAULT


def test_time_of_failed_attempts_counts_until_the_first_token() -> None:
    found = served(plan_of("timeline: [{targets: [a, b, c, d], black_hole: true}]"), "round-robin")

    late = [each for each in found if each.is_ok and len(each.attempts) == 2]
    assert late
    assert all((each.ttft_s or 0.0) > 20.0 for each in late)


@pytest.mark.case("I1")
def test_stream_that_breaks_after_its_first_token_is_a_failure_without_another_attempt() -> None:
    found = served(plan_of("timeline: [{targets: [a, b, c, d, e], stalls: true}]"), "market")

    ended = Counter((each.is_ok, len(each.attempts)) for each in found if each.attempts[0].target != "e")
    assert set(ended) == {(False, 1)}


def test_what_is_charged_follows_the_price_of_the_moment() -> None:
    plan = plan_of("timeline: [{targets: [a, b, c, d, e], begin: 30s, price_factor: 10}]")

    usd = {False: 0.0, True: 0.0}
    for each in served(plan, "random"):
        usd[each.request.at_s >= 30.0] += each.usd

    assert usd[True] > 5.0 * usd[False]


def test_target_that_joins_gets_traffic_from_then_on() -> None:
    plan = plan_of("timeline: [{targets: [d], end: 30s, absent: true}]")

    at_s = [attempt.at_s for each in served(plan, "round-robin") for attempt in each.attempts if attempt.target == "d"]

    assert at_s
    assert min(at_s) >= 30.0


def test_replicas_share_nothing() -> None:
    plan = structs.replace(load("auth-break").scaled(600), attempts=3)

    alone, four = (
        sum([attempt.outcome_class is OutcomeClass.CREDENTIAL_FAULT for each in found for attempt in each.attempts])
        for found in (served(plan, "p2c", replicas=count) for count in (1, 4))
    )

    assert alone < four


def test_clairvoyant_avoids_what_would_fail() -> None:
    found = served(plan_of("timeline: [{targets: [a, b, c, d], error_ratio: 0.5}]"), "clairvoyant")

    assert all(len(each.attempts) == 1 for each in found)
