"""A request limit: a token bucket by the time it is given, told truly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.testing import Capacity, Chat
from pointsman.testing.capacity import duration


def test_burst_is_granted_at_once_and_then_no_more() -> None:
    capacity = Capacity(per_second=1, burst=3)

    assert [capacity.admit(0.0).is_granted for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(("elapsed_s", "is_granted"), [(0.4, False), (0.5, True)])
def test_a_token_comes_back_at_the_rate(elapsed_s: float, is_granted: bool) -> None:
    capacity = Capacity(per_second=2, burst=1)
    capacity.admit(10.0)

    assert capacity.admit(10.0 + elapsed_s).is_granted is is_granted


def test_tokens_do_not_pile_up_above_the_burst() -> None:
    capacity = Capacity(per_second=100, burst=2)
    capacity.admit(0.0)

    assert [capacity.admit(1_000.0).is_granted for _ in range(3)] == [True, True, False]


@given(steps_s=st.lists(st.floats(0, 5), max_size=50), per_second=st.floats(0.1, 20), burst=st.integers(1, 10))
def test_never_more_is_granted_than_burst_and_rate_allow(steps_s: list[float], per_second: float, burst: int) -> None:
    capacity, now, granted = Capacity(per_second, burst), 0.0, 0

    for step_s in steps_s:
        now += step_s
        granted += capacity.admit(now).is_granted

    assert granted <= burst + now * per_second + 1e-6


@pytest.mark.parametrize(("stated", "retry_after"), [(None, 4), (0.5, 0.5), (0, 0)])
def test_refusal_says_the_truth_unless_it_is_told_what_to_say(stated: float | None, retry_after: float) -> None:
    capacity = Capacity(per_second=0.25, burst=1, retry_after_s=stated)
    capacity.admit(0.0)

    assert capacity.admit(0.0).refusal().retry_after == retry_after


def test_stated_wait_is_at_least_a_second() -> None:
    capacity = Capacity(per_second=100, burst=1)
    capacity.admit(0.0)

    assert capacity.admit(0.0).refusal().retry_after == 1


def test_a_caller_who_waits_as_told_is_granted() -> None:
    capacity = Capacity(per_second=0.3, burst=1)
    capacity.admit(0.0)
    wait_s = capacity.admit(0.0).retry_after_s

    assert capacity.admit(wait_s).is_granted


def test_limit_is_told_beside_the_answers_own_headers() -> None:
    told = Capacity(1, 2).admit(0.0).told_in(Chat(headers=(("a", "1"),)))

    assert told.headers[0] == ("a", "1")
    assert ("x-ratelimit-remaining-requests", "1") in told.headers


@pytest.mark.parametrize(("per_second", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_impossible_limits_are_refused(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="per_second must be above 0 and burst at least 1"):
        Capacity(per_second, burst)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "0ms"),
        (0.02, "20ms"),
        (0.0201, "21ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (60, "1m0s"),
        (360, "6m0s"),
        (61.5, "1m1.5s"),
    ],
)
def test_time_is_written_as_openai_writes_it(seconds: float, written: str) -> None:
    assert duration(seconds) == written
