"""What is worked out once per tick."""

import gc
import math

import pytest
from msgspec import structs

from pointsman.domain.view import MarketView
from pointsman.routing.market import outlook
from pointsman.routing.market.outlook import outlook_of
from pointsman.testing import builders

PRICES = {"a/m": builders.price(1, 2), "b/m": builders.price(4, 8)}
GROUP = builders.group("chat", "a/m", "b/m", "c/m", strategy="market", prices=PRICES)
SEEN = builders.measured(
    samples=9, ttft_s=0.5, decode_tps=50.0, failure_ratio=0.01, rate_limited_ratio=0.01, fault_s=1.0, rejection_s=0.2
)
VIEW = builders.group_view(*[builders.view()] * 3, measured=(SEEN,) * 3)


def test_same_tick_gives_the_same_outlook_and_another_one_another() -> None:
    assert outlook_of(GROUP, VIEW) is outlook_of(GROUP, VIEW)
    assert outlook_of(GROUP, VIEW) is not outlook_of(GROUP, structs.replace(VIEW, market=MarketView()))


def test_outlook_is_forgotten_with_its_tick() -> None:
    outlook_of(GROUP, structs.replace(VIEW, market=MarketView()))
    gc.collect()
    before = len(outlook._made)

    for _ in range(10):
        outlook_of(GROUP, structs.replace(VIEW, market=MarketView()))
    gc.collect()

    assert len(outlook._made) <= before


def test_target_without_a_price_counts_as_the_dearest_one_of_a_mean_request() -> None:
    found = outlook_of(GROUP, VIEW)

    assert found.dearest is PRICES["b/m"]
    assert found.tokens_usd(None, 100, 10) == found.tokens_usd(PRICES["b/m"], 100, 10)


def test_reference_follows_the_mix_of_the_group_not_the_picks() -> None:
    long = structs.replace(VIEW, market=MarketView(input_tokens=10_000.0))

    assert outlook_of(GROUP, VIEW).worth.reference_usd == pytest.approx((0.0014 + 0.0056) / 2)
    assert outlook_of(GROUP, long).worth.reference_usd == pytest.approx((0.0104 + 0.0416) / 2)


@pytest.mark.parametrize(
    "error", [{"ttft_error": 0.3}, {"decode_error": 0.3}, {"failure_error": 0.1}, {"rate_limited_error": 0.1}]
)
def test_every_doubt_widens_the_spread(error: dict[str, float]) -> None:
    doubtful = structs.replace(SEEN, **error)
    view = structs.replace(VIEW, market=MarketView(), measured=(doubtful, SEEN, SEEN))

    spreads = outlook_of(GROUP, view).spreads

    assert spreads[0] > 0.0 == spreads[1]


def test_spread_is_the_part_of_the_price_that_is_in_doubt_times_the_doubt() -> None:
    """Twice the doubt about the time is twice the spread; time is only a part of the price."""
    spreads = []
    for error in (0.1, 0.2):
        doubtful = structs.replace(SEEN, ttft_error=error)
        view = structs.replace(VIEW, market=MarketView(), measured=(doubtful, SEEN, SEEN))
        spreads.append(outlook_of(GROUP, view).spreads[0])

    assert spreads[1] == pytest.approx(2 * spreads[0])
    assert spreads[0] < 0.1


def test_shares_are_those_of_so_many_draws() -> None:
    found = outlook_of(GROUP, VIEW)

    assert sum(found.shares) == pytest.approx(outlook.DRAWS)
    assert found.shares[0] > 0.99 * outlook.DRAWS


def test_what_a_failed_attempt_is_charged_counts_at_the_price_of_its_target() -> None:
    lost = structs.replace(SEEN, lost_input_tokens=1_000.0)
    view = structs.replace(VIEW, market=MarketView(), measured=(lost, SEEN, lost))

    cheap, without, unpriced = [found.fault_usd for found in outlook_of(GROUP, view).quotes]

    assert cheap - without == pytest.approx(0.001)
    assert unpriced == without


def test_numbers_that_nobody_measured_count_as_usual() -> None:
    view = structs.replace(VIEW, market=MarketView(), measured=(builders.measured(),) * 3)

    found = outlook_of(GROUP, view)

    assert all(math.isfinite(number) for each in found.quotes for number in structs.astuple(each))


@pytest.mark.req("O-022")
def test_long_run_shares_and_lost_tokens_go_by_what_is_really_charged() -> None:
    lossy = structs.replace(SEEN, lost_input_tokens=1_000.0, lost_output_tokens=100.0)
    found = []
    for factor in (1.0, 4.5):
        seen = structs.replace(lossy, price_factor=factor)
        view = structs.replace(VIEW, market=MarketView(), measured=(seen, lossy, lossy))
        found.append(outlook_of(GROUP, view))
    usual, surcharged = found

    assert surcharged.shares[0] < 0.7 * usual.shares[0]
    assert surcharged.quotes[0].fault_usd - usual.quotes[0].fault_usd == pytest.approx(3.5 * 0.0012)
    assert surcharged.worth == usual.worth  # which is of list prices: it must not follow who charges what
