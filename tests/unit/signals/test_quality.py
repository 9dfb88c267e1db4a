"""Broken answers: their share, beside peers, and the flag that follows."""

from random import Random

import pytest

from pointsman.domain.view import RARE_RATIO
from pointsman.signals.board import SignalBoard
from pointsman.signals.quality import BROKEN, is_flagged
from pointsman.signals.two_tracks import NOTHING, Sums
from pointsman.testing import builders

GROUP = builders.group("chat", "a/m", "b/m", "c/m", "d/m", strategy="market")
A = GROUP.members[0].target


def board() -> SignalBoard:
    found = SignalBoard(Random(1))
    found.keep([GROUP])
    return found


def judged(found: SignalBoard, *answers: bool, now: float = 1_000.0) -> None:
    for is_broken in answers:
        found.judged(A, GROUP, now, is_broken=is_broken)


def sums(broken: float, of: float) -> Sums:
    return Sums(of, broken, of, broken)


@pytest.mark.req("O-041")
def test_share_starts_out_as_that_of_a_typical_peer_and_follows_what_is_seen() -> None:
    found = board()
    before = found.view(GROUP, 1_000.0).measured[0].broken_ratio

    judged(found, *[True] * 30, *[False] * 30)

    assert before == pytest.approx(RARE_RATIO)
    assert found.view(GROUP, 1_000.0).measured[0].broken_ratio == pytest.approx(30 / 90, abs=0.01)
    assert found.view(GROUP, 1_000.0 + 6 * 3_600.0).measured[0].broken_ratio == pytest.approx(15 / 60, abs=0.01)


@pytest.mark.req("O-041")
def test_target_whose_answers_are_broken_is_flagged_and_its_adjusted_price_grows() -> None:
    found = board()
    judged(found, *[True] * 19)
    assert not found.view(GROUP, 1_000.0).targets[0].flagged

    judged(found, True)

    view = found.view(GROUP, 1_000.0)
    assert [seen.flagged for seen in view.targets] == [True, False, False, False]
    assert view.is_calm
    assert found.target_view(A, 1_000.0).flagged


@pytest.mark.req("O-041")
def test_flag_goes_below_half_of_what_it_came_for() -> None:
    found = board()
    judged(found, *[True] * 30)
    flags = []
    for _ in range(600):
        judged(found, False)
        flags.append(found.target_view(A, 1_000.0).flagged)

    assert flags[0]
    assert not flags[-1]
    ratio = (30 + 30 * RARE_RATIO) / (30 + 30 + flags.index(False) + 1)
    assert 0.1 < ratio < 0.16  # the 10 % quantile is at 0.1
    assert True not in flags[flags.index(False) :]


@pytest.mark.req("O-041")
@pytest.mark.parametrize(
    ("own", "peers", "flagged"),
    [
        (sums(30, 60), NOTHING, True),
        (sums(12, 60), NOTHING, False),  # 20 % is not surely above 20 %
        (sums(30, 60), sums(15, 60), False),  # four times as bad as the others is none
        (sums(60, 60), sums(60, 60), False),  # all are equally bad: that says something of the requests
        (sums(19, 19), NOTHING, False),
    ],
)
def test_flag_needs_far_more_than_the_peers_have(own: Sums, peers: Sums, flagged: bool) -> None:
    assert is_flagged([own, peers, peers, peers], 0, was_flagged=False) is flagged


@pytest.mark.req("O-041")
@pytest.mark.parametrize("peers", [[], [NOTHING], [sums(30, 60)], [sums(30, 60), sums(30, 60)]])
def test_with_few_peers_the_floor_alone_counts(peers: list[Sums]) -> None:
    assert is_flagged([sums(40, 60), *peers], 0, was_flagged=False)
    assert not is_flagged([sums(6, 60), *peers], 0, was_flagged=False)


def test_few_judgements_change_no_flag() -> None:
    assert is_flagged([sums(0, 5), NOTHING], 0, was_flagged=True)


def test_target_that_nobody_measures_is_not_judged() -> None:
    other = builders.group("other", "z/m", strategy="failover")
    found = SignalBoard(Random(1))
    found.keep([other])

    found.judged(other.members[0].target, other, 5.0, is_broken=True)
    found.judged(A, GROUP, 5.0, is_broken=True)

    assert not found.target_view(A, 5.0).flagged


def test_mean_never_reaches_zero_or_one() -> None:
    low, high = BROKEN.means([sums(0, 1e6), sums(1e6, 1e6)])

    assert 0.0 < low < high < 1.0
