"""What attempts cost, by hand-computed bills."""

import pytest

from pointsman.domain.outcome import Usage
from pointsman.domain.price import CostUnknown, Price, Rates, Tier, cost_usd, estimate_usd, why_unknown
from pointsman.testing import builders

OPENAI = Price(Rates(input=0.2, output=1.25, cache_read=0.02, cache_write=0.2), source="gpt-5.4-nano")
ANTHROPIC = Price(Rates(input=3, output=15, cache_read=0.3, cache_write=3.75), source="claude-sonnet-4-5")
LONG = Price(
    Rates(input=2.5, output=15, cache_read=0.25, cache_write=2.5),
    source="gpt-5.4",
    tiers=(Tier(272_000, Rates(input=5, output=22.5, cache_read=0.5, cache_write=5)),),
)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(1_000, 500), 0.000825),  # 1,000 x 0.2 + 500 x 1.25 = 825
        (Usage(1_000, 500, 800), 0.000681),  # 200 x 0.2 + 800 x 0.02 + 625 = 681
        (Usage(1_000_000, 1_000_000), 1.45),
        (Usage(0, 0), 0.0),
        (Usage(1_000, 500, None, 400), 0.000825),  # reasoning is part of the output
    ],
)
def test_openai_counts_cached_input_within_the_total(usage: Usage, expected: float) -> None:
    assert cost_usd(OPENAI, usage) == pytest.approx(expected, rel=1e-12)


@pytest.mark.bug("H-01")
def test_tokens_written_to_a_cache_are_charged_once() -> None:
    usage = Usage(input_tokens=3 + 12_304, output_tokens=550, cached_tokens=0, cache_write_tokens=12_304)

    assert cost_usd(ANTHROPIC, usage) == pytest.approx(0.054399)  # 3 x 3 + 12,304 x 3.75 + 550 x 15


@pytest.mark.bug("H-02")
def test_tokens_read_from_a_cache_are_charged_once_and_at_their_own_rate() -> None:
    usage = Usage(input_tokens=100_000, output_tokens=1_000, cached_tokens=90_000, cache_write_tokens=6_000)

    # 4,000 x 3 + 90,000 x 0.3 + 6,000 x 3.75 + 1,000 x 15 = 12,000 + 27,000 + 22,500 + 15,000
    assert cost_usd(ANTHROPIC, usage) == pytest.approx(0.0765)


def test_parts_that_a_provider_counts_beside_the_total_are_charged_too() -> None:
    usage = Usage(input_tokens=3, output_tokens=0, cached_tokens=300_000)

    assert cost_usd(LONG, usage) == pytest.approx(0.15)  # 300,000 x 0.5: it is a long request


@pytest.mark.parametrize(
    ("input_tokens", "expected"),
    [
        (272_000, 0.695),  # 272,000 x 2.5 + 1,000 x 15
        (272_001, 1.382505),  # 272,001 x 5 + 1,000 x 22.5: all of it, not only what is above
    ],
)
def test_long_request_has_other_rates_for_all_of_its_tokens(input_tokens: int, expected: float) -> None:
    assert cost_usd(LONG, Usage(input_tokens, 1_000)) == pytest.approx(expected, rel=1e-12)


def test_highest_tier_that_is_passed_counts() -> None:
    tiers = (Tier(100, builders.price(7).rates), Tier(10, builders.price(5).rates))
    price = builders.price(3, tiers=tiers)

    assert [price.rates_for(tokens).input for tokens in (10, 11, 100, 101)] == [3, 5, 5, 7]


def test_a_request_may_have_a_price_besides_its_tokens() -> None:
    assert cost_usd(builders.price(1, 1, request_usd=0.01), Usage(1_000, 1_000)) == pytest.approx(0.012)


@pytest.mark.bug("C-10", "E-09")
@pytest.mark.parametrize("usage", [None, Usage(), Usage(10, None), Usage(None, 10)])
def test_cost_of_what_nobody_counted_is_not_known(usage: Usage | None) -> None:
    assert cost_usd(OPENAI, usage) is None
    assert why_unknown(OPENAI) is CostUnknown.NO_USAGE


@pytest.mark.bug("C-10")
def test_cost_without_a_price_is_not_known() -> None:
    assert cost_usd(None, Usage(10, 10)) is None
    assert estimate_usd(None, 10, 10) is None
    assert why_unknown(None) is CostUnknown.NO_PRICE


@pytest.mark.bug("C-10")
def test_price_0_is_known_and_free() -> None:
    free = builders.price(0, 0)

    assert cost_usd(free, Usage(10, 10)) == 0.0
    assert estimate_usd(free, 10, 10) == 0.0


def test_estimate_is_what_the_same_tokens_cost() -> None:
    for tokens in (1_000, 300_000):
        assert estimate_usd(LONG, tokens, 500) == cost_usd(LONG, Usage(tokens, 500))
