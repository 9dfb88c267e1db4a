"""Which share of attempts fails."""

import pytest

from pointsman.domain.view import RARE_RATIO
from pointsman.signals.ratios import FAILURES, RATE_LIMITS, Ratio
from pointsman.signals.two_tracks import NOTHING, Sums

NOW = 1_000.0


def after(*failed: bool, gap_s: float = 0.0, silence_s: float = 0.0, of: Ratio = FAILURES) -> Sums:
    """What is left of so many attempts, one after the other."""
    failures, now = of.new(), NOW
    for has_failed in failed:
        now += gap_s
        failures.observe(float(has_failed), now)
    return failures.at(now + silence_s)


def ratio(sums: Sums) -> float:
    """Of a target without peers."""
    return FAILURES.means([sums])[0]


def test_nobody_never_fails() -> None:
    assert ratio(NOTHING) == pytest.approx(RARE_RATIO)


def test_one_failure_is_no_outage() -> None:
    assert 0.05 < ratio(after(True)) < 0.2


def test_outage_of_some_seconds_is_seen_beside_minutes_of_success() -> None:
    assert ratio(after(*[False] * 300, gap_s=1.0)) < 0.01
    assert ratio(after(*[False] * 300, *[True] * 10, gap_s=1.0)) > 0.25


def test_certainty_is_never_reached() -> None:
    assert ratio(after(*[True] * 100_000)) < 1.0


def test_new_target_fails_as_often_as_the_median_of_the_others() -> None:
    sums = [NOTHING, after(*[True] * 20), after(True, True), after(*[False] * 40)]

    assert FAILURES.means(sums)[0] == pytest.approx(sums[2].slow(RARE_RATIO, 10.0))


def test_old_outage_is_forgotten_toward_the_peers() -> None:
    peer = after(True)

    assert FAILURES.means([after(*[True] * 100, silence_s=7_200.0), peer])[0] == pytest.approx(
        peer.slow(RARE_RATIO, 10.0), rel=0.01
    )


@pytest.mark.parametrize("index", range(5))
def test_median_of_the_others_leaves_oneself_out(index: int) -> None:
    sums = [after(*[True] * count) for count in (0, 3, 6, 12, 24)]
    others = sorted(each.slow(RARE_RATIO, 10.0) for each in sums[:index] + sums[index + 1 :])
    typical = others[1]

    expected = max(sums[index].slow(typical, 10.0), sums[index].fast(typical, 5.0))

    assert FAILURES.means(sums)[index] == pytest.approx(expected)


def test_equal_targets_fail_equally_often() -> None:
    assert len(set(FAILURES.means([after(True)] * 4))) == 1


def test_burst_of_rate_limits_is_forgotten_faster_than_an_outage() -> None:
    history = [False] * 300 + [True] * 10

    limited, failed = (
        kind.means([after(*history, gap_s=1.0, silence_s=30.0, of=kind)])[0] for kind in (RATE_LIMITS, FAILURES)
    )

    assert limited < failed
