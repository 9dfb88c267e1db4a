"""Who does far worse than the others."""

import pytest

from pointsman.domain.policy import MARKET, STRICT
from pointsman.signals.peers import is_outlier
from pointsman.signals.ratios import RATE_LIMITS
from pointsman.signals.tracks import Tracks
from pointsman.testing import builders

NOW = 1_000.0
KINDS = ["upstream_fault", "rate_limited"]


def target(kind: str = "ok", bad: int = 0, good: int = 0) -> Tracks:
    """Its attempts end badly and well by turns."""
    tracks = Tracks()
    tracks.rate_limits = RATE_LIMITS.new()
    for outcome_class in [kind] * bad + ["ok"] * good:
        tracks.observe(builders.facts(), builders.outcome(outcome_class, status=500), NOW)
    return tracks


def first_is_outlier(*targets: Tracks) -> bool:
    return is_outlier(targets, 0, MARKET, NOW)


@pytest.mark.req("O-010")
@pytest.mark.parametrize("kind", KINDS)
def test_target_that_mostly_fails_is_an_outlier(kind: str) -> None:
    assert first_is_outlier(target(kind, bad=20, good=2), *[target(good=20)] * 3)


@pytest.mark.trap("20")
@pytest.mark.parametrize("kind", KINDS)
def test_two_bad_ends_are_too_few_to_tell(kind: str) -> None:
    assert not first_is_outlier(target(kind, bad=2), *[target(good=20)] * 3)
    assert not first_is_outlier(target(kind, bad=2), target(kind, bad=20))  # who is expected to be as bad as its peer


@pytest.mark.parametrize("kind", KINDS)
def test_some_bad_ends_among_many_good_ones_are_no_outlier(kind: str) -> None:
    assert not first_is_outlier(target(kind, bad=5, good=30), *[target(good=20)] * 3)


@pytest.mark.req("O-011")
@pytest.mark.trap("22")
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_an_outlier_among_equally_bad_ones(kind: str) -> None:
    assert not first_is_outlier(*[target(kind, bad=20, good=2)] * 4)


@pytest.mark.trap("21")
@pytest.mark.parametrize("kind", KINDS)
def test_fewer_than_three_peers_are_no_measure(kind: str) -> None:
    """The absolute limit remains: two bad peers do not excuse a third."""
    assert first_is_outlier(*[target(kind, bad=40, good=2)] * 3)


def test_strict_pauses_compare_with_nobody() -> None:
    assert not is_outlier([target("upstream_fault", bad=50), *[target(good=20)] * 3], 0, STRICT, NOW)


def test_old_faults_are_forgotten() -> None:
    targets = [target("upstream_fault", bad=20, good=2), *[target(good=20)] * 3]

    assert not is_outlier(targets, 0, MARKET, NOW + 120)
