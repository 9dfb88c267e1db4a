"""Traps of decayed numbers that no single file of signals has alone."""

import pytest

from pointsman.domain.conversation import Prefix
from pointsman.domain.outcome import Usage
from pointsman.signals.prompt_cache import PromptCache
from pointsman.signals.rate import Rate
from pointsman.signals.two_tracks import TwoTracks

WEEK_S = 604_800.0
GAP_S = 3.0
UNKNOWN_PROMPT = Prefix((b"never-read",), (1,))


def usage(input_tokens: int, cached_tokens: int) -> Usage:
    return Usage(input_tokens=input_tokens, output_tokens=1, cached_tokens=cached_tokens)


@pytest.mark.trap("11")
def test_share_of_cached_input_is_a_ratio_of_sums_and_no_mean_of_ratios() -> None:
    """One long prompt that was read anew outweighs a thousand short ones that were not."""
    cache = PromptCache()
    for _ in range(1_000):
        cache.learn(None, usage(10, 10), 0.0)
    cache.learn(None, usage(990_000, 0), 0.0)

    expected = cache.expected_tokens(UNKNOWN_PROMPT, 100_000, 0.0)

    assert expected == pytest.approx(1_000, rel=0.1)  # 1 %; the mean of the ratios is 99.9 %


@pytest.mark.trap("33")
def test_sums_of_a_week_are_those_of_the_last_minutes() -> None:
    """Whatever is added 200,000 times, rounding does not pile up: what is old is gone with its errors."""
    tracks, rate, now = TwoTracks(slow_half_life_s=300.0, fast_half_life_s=20.0), Rate(0.0), 0.0
    while now < WEEK_S:
        now += GAP_S
        tracks.observe(0.1, now)
        rate.add(0.1, now)

    left = tracks.at(now)
    assert left.slow_weight == pytest.approx(1 / (1 - 2 ** (-GAP_S / 300.0)), rel=1e-9)
    assert left.slow_sum / left.slow_weight == pytest.approx(0.1, rel=1e-9)
    assert left.fast_sum / left.fast_weight == pytest.approx(0.1, rel=1e-9)
    fresh, end = Rate(-1e9), WEEK_S
    for step in reversed(range(200)):
        fresh.add(0.1, end - step * GAP_S)
    assert rate.at(now) == pytest.approx(fresh.at(end), rel=1e-9)
