"""Leaving trouble, and coming back."""

import math

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.simulator.plan import Spell
from pointsman.simulator.spells import Attempts
from pointsman.simulator.world import Sent

SPELL = Spell(("b",), 400.0, 500.0)


def attempts(*absent: tuple[float, float], share: int = 2) -> Attempts:
    """Ten a second for 800 s; every `share`th goes to b, but for the times when it is absent."""
    times = [number / 10.0 for number in range(8_000)]
    sent = [
        Sent(at, "b" if not number % share and not any(a <= at < b for a, b in absent) else "a", OutcomeClass.OK, 0.0)
        for number, at in enumerate(times)
    ]
    return Attempts(sent, 800.0)


def test_left_when_the_next_20_s_carry_a_fifth_of_what_was_usual() -> None:
    assert attempts((407.0, 505.0)).detected_s(SPELL) == pytest.approx(3.0)


def test_back_when_the_next_45_s_carry_half_of_what_was_usual() -> None:
    assert attempts((407.0, 540.0)).recovered_s(SPELL) == pytest.approx(18.0, abs=1.0)


def test_who_never_leaves_never_leaves() -> None:
    assert attempts().detected_s(SPELL) == math.inf


def test_who_never_comes_back_never_does() -> None:
    assert attempts((400.0, 800.0)).recovered_s(SPELL) == math.inf


def test_there_is_nothing_to_tell_of_a_target_that_had_next_to_no_traffic() -> None:
    rare = attempts(share=25)

    assert rare.detected_s(SPELL) is None
    assert rare.recovered_s(SPELL) is None


def test_there_is_no_way_back_from_what_does_not_end() -> None:
    assert attempts((400.0, 800.0)).recovered_s(Spell(("b",), 400.0, math.inf)) is None


def test_share_of_an_empty_time_is_nothing() -> None:
    assert attempts().share(("b",), 900.0, 950.0) == 0.0
