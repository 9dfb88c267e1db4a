"""The load at which a target begins to refuse."""

import math

import pytest

from pointsman.signals.traffic_cap import TrafficCap, beyond


class Load:
    """Requests at a steady rate to a target that serves so many per second and refuses the rest, in its own second."""

    def __init__(self, limit_per_s: float = math.inf) -> None:
        self.limit_per_s, self.now = limit_per_s, 0.0
        self.cap: TrafficCap | None = None
        self._room = 0.0

    def run(self, per_s: float, duration_s: float) -> None:
        for _ in range(round(per_s * duration_s)):
            self.now += 1.0 / per_s
            self._room = min(self._room + self.limit_per_s / per_s, self.limit_per_s, 1e9)
            self._send()

    def _send(self) -> None:
        is_served = self._room >= 1.0
        if self.cap is None and not is_served:
            self.cap = TrafficCap(self.now)
        if self.cap is None:
            return
        self.cap.sent(1.0, self.now)
        if is_served:
            self._room -= 1.0
            self.cap.served(1.0, self.now)
        else:
            self.cap.refused(1.0, self.now, self.now)

    @property
    def learned(self) -> float:
        return math.inf if self.cap is None else self.cap.at(self.now)


def overloaded() -> Load:
    """Asked for ten a second, serves six."""
    load = Load(6.0)
    load.run(10.0, 60.0)
    return load


@pytest.mark.req("O-012")
def test_cap_comes_down_to_what_is_served_and_no_further() -> None:
    load = overloaded()
    assert load.learned == pytest.approx(6.0 * 0.9, rel=0.1)

    load.run(10.0, 600.0)

    assert load.learned > 6.0 * 0.8


@pytest.mark.req("O-013")
def test_single_429_sets_no_cap() -> None:
    load = Load()
    load.cap = TrafficCap(0.0)
    load.run(10.0, 20.0)

    load.cap.refused(1.0, load.now, load.now)

    assert load.learned == math.inf


@pytest.mark.req("O-013")
def test_rate_limits_that_come_one_at_a_time_set_no_cap() -> None:
    cap = TrafficCap(0.0)
    for second in range(300):
        now = float(second)
        cap.sent(1.0, now)
        if second % 10:
            cap.served(1.0, now)
        else:
            cap.refused(1.0, now, now)

    assert cap.at(299.0) == math.inf


@pytest.mark.req("O-013")
def test_rate_limits_far_below_what_was_served_before_are_not_about_our_load() -> None:
    load = Load()
    load.cap = TrafficCap(0.0)
    load.run(100.0, 60.0)
    load.limit_per_s = 1.0

    load.run(3.0, 60.0)

    assert load.learned == math.inf


def test_request_that_was_sent_before_a_cut_does_not_cut_again() -> None:
    load = overloaded()
    before = load.learned
    assert load.cap is not None

    for _ in range(100):
        load.now += 0.1
        load.cap.sent(1.0, load.now)
        load.cap.refused(1.0, 0.0, load.now)

    assert load.learned == before


@pytest.mark.req("O-012")
def test_cap_grows_once_the_limits_stop_and_it_is_used() -> None:
    load = overloaded()
    before, load.limit_per_s = load.learned, math.inf

    load.run(before, 60.0)

    assert before * 1.3 < load.learned < before * 2.5


@pytest.mark.trap("27")
def test_cap_that_nobody_comes_near_does_not_grow() -> None:
    load = overloaded()
    before, load.limit_per_s = load.learned, math.inf

    load.run(before / 3, 120.0)

    assert load.learned == pytest.approx(before, rel=0.05)


def test_cap_is_forgotten_ten_minutes_after_the_last_429() -> None:
    load = overloaded()
    assert load.cap is not None

    assert load.cap.at(load.now + 590.0) < math.inf
    assert load.cap.at(load.now + 601.0) == math.inf


@pytest.mark.parametrize(("rate", "gate"), [(0.0, 1.0), (10.0, 1.0), (10.75, 0.5), (11.5, 0.0), (100.0, -59.0)])
def test_gate_narrows_above_the_cap(rate: float, gate: float) -> None:
    assert beyond(rate, 10.0) == pytest.approx(gate)


def test_without_a_cap_every_rate_gets_through() -> None:
    assert beyond(1e9, math.inf) == 1.0
