"""The first seconds after a recovery."""

import pytest

from pointsman.signals.slow_start import SlowStart

START = SlowStart(began_at=100.0, length_s=20.0)


@pytest.mark.parametrize(("now", "gate"), [(100.0, 0.1), (110.0, 0.55), (119.9, 0.9955), (120.0, 1.0), (1e9, 1.0)])
def test_gate_widens_from_a_tenth_to_all(now: float, gate: float) -> None:
    assert START.gate(now) == pytest.approx(gate)


@pytest.mark.case("T49")
def test_clock_that_steps_back_narrows_it_no_further() -> None:
    assert START.gate(-1e9) == pytest.approx(0.1)


def test_start_of_no_length_is_over_at_once() -> None:
    assert SlowStart(100.0, 0.0).gate(100.0) == 1.0
