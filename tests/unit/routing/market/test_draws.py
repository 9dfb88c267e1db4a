"""Chance as a hash."""

import statistics

import pytest

from pointsman.routing.market.draws import draws

IDS = (b"a/m", b"b/m")


@pytest.mark.req("X-13")
def test_same_key_and_target_give_the_same_draw_whoever_else_takes_part() -> None:
    first, second = draws("req-1", IDS)

    assert draws("req-1", [b"x/m", b"b/m"])[1] == second
    assert first != second
    assert draws("req-2", IDS)[0] != first


def test_key_and_target_do_not_run_into_each_other() -> None:
    assert draws("req-1a", [b"/m"]) != draws("req-1", [b"a/m"])


def test_draws_are_uniform_and_normal_and_independent() -> None:
    found = [draws(f"req-{number}", IDS[:1])[0] for number in range(4_000)]
    uniform, normal = [pair[0] for pair in found], [pair[1] for pair in found]

    assert 0.0 < min(uniform) < max(uniform) < 1.0
    assert statistics.mean(uniform) == pytest.approx(0.5, abs=0.02)
    assert statistics.mean(normal) == pytest.approx(0.0, abs=0.05)
    assert statistics.stdev(normal) == pytest.approx(1.0, abs=0.05)
    assert abs(statistics.correlation(uniform, normal)) < 0.05
