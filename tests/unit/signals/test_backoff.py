"""The short answer to rate limits."""

import pytest

from pointsman.signals.backoff import Backoff


def after(*at: float) -> Backoff:
    backoff = Backoff()
    for now in at:
        backoff.refused(now)
    return backoff


@pytest.mark.req("O-014")
def test_every_429_takes_a_fifth() -> None:
    assert [after(*[0.0] * times).gate(0.0) for times in range(4)] == pytest.approx([1.0, 0.8, 0.64, 0.512])


@pytest.mark.req("O-014")
def test_burst_leaves_a_tenth() -> None:
    assert after(*[0.0] * 1_000).gate(0.0) == pytest.approx(0.1)


@pytest.mark.req("O-014")
def test_gate_opens_by_itself_within_seconds() -> None:
    backoff = after(*[0.0] * 1_000)

    assert backoff.gate(10.0) == pytest.approx(1 - 0.9 / 2.71828, rel=1e-3)
    assert backoff.gate(70.0) == 1.0


@pytest.mark.case("T49")
def test_clock_that_steps_back_does_not_narrow_it() -> None:
    assert after(0.0).gate(-1e9) == pytest.approx(0.8)
