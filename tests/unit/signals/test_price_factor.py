"""What a target charges beside its list price."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.domain.outcome import Usage
from pointsman.domain.price import cost_usd
from pointsman.signals.price_factor import PriceFactor, is_off
from pointsman.testing import builders

NOW = 1_000.0
PRICE = builders.price(1, 5)
SHORT, LONG = Usage(1_000, 200), Usage(100_000, 20_000)


def billed(ratio: float, usage: Usage = SHORT) -> Usage:
    """An answer that is charged so many times its list price."""
    return Usage(usage.input_tokens, usage.output_tokens, charged_usd=ratio * (cost_usd(PRICE, usage) or 0.0))


def of(*ratios: float, now: float = NOW) -> PriceFactor:
    found = PriceFactor(PRICE)
    for ratio in ratios:
        found.observe(billed(ratio), now)
    return found


@pytest.mark.req("O-022")
def test_target_that_charges_half_its_list_price_comes_near_a_half() -> None:
    assert of(*[0.5] * 200).at(NOW) == pytest.approx(0.5, abs=0.02)


def test_first_answers_move_it_a_little_only() -> None:
    assert PriceFactor(PRICE).at(NOW) == 1.0
    assert of(2.0).at(NOW) == pytest.approx(7 / 6)


@pytest.mark.trap("11")
def test_dollars_count_not_answers() -> None:
    found = of(*[1.0] * 50)
    for _ in range(50):
        found.observe(billed(2.0, LONG), NOW)

    assert found.at(NOW) > 1.9


@pytest.mark.req("O-022")
def test_what_was_charged_half_an_hour_ago_counts_half_and_at_last_the_list_price_holds_again() -> None:
    found = of(*[3.0] * 100)
    for _ in range(100):
        found.observe(billed(1.0), NOW + 1_800.0)

    assert found.at(NOW + 1_800.0) == pytest.approx(1 + 2 / 3, abs=0.05)
    assert of(*[3.0] * 100).at(NOW + 12 * 3_600.0) == pytest.approx(1.0, abs=0.01)


def test_answers_without_a_ratio_teach_nothing() -> None:
    found, free = of(), PriceFactor(builders.price(0, 0))
    found.observe(Usage(1_000, 200), NOW)
    found.observe(Usage(None, 200, charged_usd=1.0), NOW)
    free.observe(Usage(1_000, 200, charged_usd=1.0), NOW)

    assert (found.at(NOW), free.at(NOW)) == (1.0, 1.0)


def test_it_is_of_one_list_price_only() -> None:
    assert of().is_of(builders.price(1, 5))
    assert not of().is_of(builders.price(2, 5))
    assert not of().is_of(None)


@pytest.mark.parametrize(("factor", "off"), [(0.69, True), (0.7, False), (1.0, False), (1.4, False), (1.41, True)])
def test_far_from_the_list_price_it_is_off(factor: float, off: bool) -> None:
    assert is_off(factor) is off


@given(charged=st.lists(st.tuples(st.floats(0.0, 1e9), st.floats(0.0, 1e5)), max_size=40), later_s=st.floats(-1e3, 1e9))
def test_it_stays_within_a_fifth_and_five_times_whatever_is_charged(
    charged: list[tuple[float, float]], later_s: float
) -> None:
    found, now = PriceFactor(PRICE), NOW
    for usd, gap_s in charged:
        now += gap_s
        found.observe(Usage(1_000, 200, charged_usd=usd), now)

    assert 0.2 <= found.at(now + later_s) <= 5.0
