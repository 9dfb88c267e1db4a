"""What the configuration allows."""

import random

import pytest

from pointsman.domain.target import Limits
from pointsman.domain.view import Limit
from pointsman.signals.hard_limits import HardLimits, Window


def sent_until_full(limits: HardLimits, now: float, tokens: float = 0.0) -> int:
    """How many requests it takes at one time."""
    count = 0
    while limits.reached(0, now) is None and count < 1_000:
        limits.sent(tokens, now)
        count += 1
    return count


@pytest.mark.parametrize(("in_flight", "is_reached"), [(0, False), (2, False), (3, True), (9, True)])
def test_so_many_may_be_in_flight(in_flight: int, *, is_reached: bool) -> None:
    found = HardLimits(Limits(max_concurrent=3)).reached(in_flight, 100.0)

    assert found == ((Limit.MAX_CONCURRENT, 100.1) if is_reached else None)


@pytest.mark.parametrize(("max_rps", "burst", "next_s"), [(5.0, 5, 1.0), (0.5, 1, 2.0), (2.5, 2, 0.8)])
def test_so_many_may_be_sent_in_a_second(max_rps: float, burst: int, next_s: float) -> None:
    limits = HardLimits(Limits(max_rps=max_rps))

    assert sent_until_full(limits, 100.0) == burst
    assert limits.reached(0, 100.0) == (Limit.MAX_RPS, pytest.approx(100.0 + next_s))
    assert limits.reached(0, 100.0 + next_s) is None


def test_so_many_tokens_may_be_sent_in_a_minute() -> None:
    limits = HardLimits(Limits(max_tpm=1_000))

    assert sent_until_full(limits, 100.0, tokens=300.0) == 4
    assert limits.reached(0, 100.0) == (Limit.MAX_TPM, pytest.approx(160.0))


def test_tokens_that_were_not_expected_count_when_they_are_known() -> None:
    limits = HardLimits(Limits(max_tpm=1_000))
    limits.sent(100.0, 100.0)

    limits.used(900.0, 110.0)

    assert limits.reached(0, 110.0) == (Limit.MAX_TPM, pytest.approx(160.0))


def test_without_limits_nothing_is_counted() -> None:
    assert sent_until_full(HardLimits(Limits(max_concurrent=1)), 100.0, tokens=1e9) == 1_000


@pytest.mark.parametrize("seed", range(5))
def test_no_window_ever_holds_more_than_the_limit(seed: int) -> None:
    rng, now, limits = random.Random(seed), 0.0, HardLimits(Limits(max_rps=7.0))
    sent: list[float] = []
    for _ in range(3_000):
        now += rng.expovariate(50.0)
        if limits.reached(0, now) is None:
            limits.sent(0.0, now)
            sent.append(now)

    assert all(later - sent[index] >= 1.0 for index, later in enumerate(sent[7:]))
    assert len(sent) > 0.9 * 7 * now


def test_window_is_bounded_whatever_comes() -> None:
    window = Window(60.0)
    for number in range(100_000):
        window.add(1.0, number / 1_000)

    assert len(window._parts) <= 62
