"""The fake clock moves only when told."""

import pytest

from pointsman.testing import FakeClock


def test_it_stands_still() -> None:
    clock = FakeClock(now=5.0, utc=7.0)

    assert [clock.now(), clock.now(), clock.utc(), clock.utc()] == [5.0, 5.0, 7.0, 7.0]


def test_both_times_move_together() -> None:
    clock = FakeClock(now=5.0, utc=7.0)

    clock.advance(1.5)
    clock.advance(0.0)

    assert (clock.now(), clock.utc()) == (6.5, 8.5)


def test_time_cannot_go_back() -> None:
    with pytest.raises(ValueError, match=r"time cannot go back: advance\(-1\)"):
        FakeClock().advance(-1)
