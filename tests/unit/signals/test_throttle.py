"""All limits of a target as one gate."""

import math

import pytest

from pointsman.domain.outcome import LimitedUnit, ToldLimit, Usage
from pointsman.domain.target import Limits
from pointsman.domain.view import Limit
from pointsman.signals.throttle import MIN_GATE, Gate, Throttle
from pointsman.testing import builders

NOW = 1_000.0


def ended(throttle: Throttle, kind: str = "ok", now: float = NOW, **details: object) -> None:
    """An attempt of 100 tokens that takes no time."""
    throttle.sent(100.0, now)
    status = 429 if kind == "rate_limited" else 200
    throttle.ended(builders.outcome(kind, status=status, **details), 100.0, now, now)


def told(remaining: float, reset_s: float, unit: LimitedUnit = LimitedUnit.REQUESTS) -> Throttle:
    throttle = Throttle(NOW)
    ended(throttle, told_limits=(ToldLimit(unit, remaining, reset_s),))
    return throttle


def stormed(duration_s: int = 60) -> Throttle:
    """Nothing but rate limits, ten a second."""
    throttle = Throttle(NOW)
    for number in range(duration_s * 10):
        ended(throttle, "rate_limited", NOW + number / 10)
    return throttle


@pytest.mark.case("T40")
def test_storm_of_rate_limits_leaves_a_trickle() -> None:
    assert stormed().gate(0, NOW + 60).value == MIN_GATE


@pytest.mark.req("O-014")
@pytest.mark.bug("A-10", "A-14")
def test_every_storm_is_forgotten_in_bounded_time() -> None:
    throttle = stormed()

    assert throttle.gate(0, NOW + 60 + 90).value > 0.9
    assert throttle.is_over(NOW + 60 + 601)


def test_caps_are_told_per_second() -> None:
    throttle = Throttle(NOW)
    for number in range(600):
        ended(throttle, "rate_limited" if number % 2 else "ok", NOW + number / 10)

    assert throttle.caps(NOW + 60) == {
        LimitedUnit.REQUESTS: pytest.approx(5, rel=0.2), LimitedUnit.TOKENS: pytest.approx(500, rel=0.2),
    }  # fmt: skip


@pytest.mark.parametrize("unit", list(LimitedUnit))
def test_provider_with_nothing_left_is_held_until_its_reset(unit: LimitedUnit) -> None:
    throttle = told(0, 20.0, unit)

    assert throttle.gate(0, NOW + 19.9) == Gate(0.0, Limit.PROVIDER, NOW + 20.0)
    assert throttle.gate(0, NOW + 20.0).limit is None


def test_what_is_left_until_the_reset_is_a_cap() -> None:
    throttle = told(10, 20.0)
    for number in range(1, 40):
        ended(throttle, now=NOW + number / 4)

    assert throttle.gate(0, NOW + 10).value == MIN_GATE
    assert throttle.gate(0, NOW + 20.1).value == 1.0


def test_configured_limit_excludes_whatever_else_is_known() -> None:
    throttle = Throttle(-math.inf, Limits(max_concurrent=1, max_tpm=1_000))

    assert throttle.gate(1, NOW).limit is Limit.MAX_CONCURRENT
    ended(throttle, usage=Usage(input_tokens=150, output_tokens=900))
    assert throttle.gate(0, NOW).limit is Limit.MAX_TPM
    assert not throttle.is_over(NOW + 1e9)


def test_reading_changes_nothing() -> None:
    throttle = stormed()
    before = throttle.gate(0, NOW + 60)

    throttle.gate(0, NOW + 1e9)

    assert throttle.gate(0, NOW + 60) == before


def test_attempt_that_takes_less_than_expected_takes_no_more_than_it_was_sent_with() -> None:
    throttle = Throttle(NOW, Limits(max_tpm=101))

    ended(throttle, usage=Usage(input_tokens=1, output_tokens=1))

    assert throttle.gate(0, NOW).limit is None
