"""Which share of attempts fails."""

import pytest

from pointsman.signals.failures import FLOOR, failure_ratios, new_failures
from pointsman.signals.two_tracks import NOTHING, Sums

NOW = 1_000.0


def after(*failed: bool, gap_s: float = 0.0, silence_s: float = 0.0) -> Sums:
    """What is left of so many attempts, one after the other."""
    failures, now = new_failures(), NOW
    for has_failed in failed:
        now += gap_s
        failures.observe(float(has_failed), now)
    return failures.at(now + silence_s)


def ratio(sums: Sums) -> float:
    """Of a target without peers."""
    return failure_ratios([sums])[0]


def test_nobody_never_fails() -> None:
    assert ratio(NOTHING) == pytest.approx(FLOOR)


def test_one_failure_is_no_outage() -> None:
    assert 0.05 < ratio(after(True)) < 0.2


def test_outage_of_some_seconds_is_seen_beside_minutes_of_success() -> None:
    assert ratio(after(*[False] * 300, gap_s=1.0)) < 0.01
    assert ratio(after(*[False] * 300, *[True] * 10, gap_s=1.0)) > 0.25


def test_certainty_is_never_reached() -> None:
    assert ratio(after(*[True] * 100_000)) < 1.0


def test_new_target_fails_as_often_as_the_median_of_the_others() -> None:
    sums = [NOTHING, after(*[True] * 20), after(True, True), after(*[False] * 40)]

    assert failure_ratios(sums)[0] == pytest.approx(sums[2].slow(FLOOR, 10.0))


def test_old_outage_is_forgotten_toward_the_peers() -> None:
    peer = after(True)

    assert failure_ratios([after(*[True] * 100, silence_s=7_200.0), peer])[0] == pytest.approx(
        peer.slow(FLOOR, 10.0), rel=0.01
    )


@pytest.mark.parametrize("index", range(5))
def test_median_of_the_others_leaves_oneself_out(index: int) -> None:
    sums = [after(*[True] * count) for count in (0, 3, 6, 12, 24)]
    others = sorted(each.slow(FLOOR, 10.0) for each in sums[:index] + sums[index + 1 :])
    typical = others[1]

    expected = max(sums[index].slow(typical, 10.0), sums[index].fast(typical, 5.0))

    assert failure_ratios(sums)[index] == pytest.approx(expected)


def test_equal_targets_fail_equally_often() -> None:
    assert len(set(failure_ratios([after(True)] * 4))) == 1
