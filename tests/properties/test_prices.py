"""Costs and estimates for any price and any count."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pointsman.domain.decision import Estimate
from pointsman.domain.outcome import Usage
from pointsman.domain.price import Price, Rates, Tier, cost_usd, estimate_usd
from pointsman.domain.request import Script
from pointsman.routing import costs
from pointsman.signals.lengths import Lengths
from pointsman.testing import builders
from tests.properties.thorough import thorough

THOROUGH = thorough(300)
MAX_TOKENS = 2**53 - 1

usd = st.sampled_from([0.0, 1e-9, 0.02, 15.0, 1e6]) | st.floats(0.0, 1e6)
rates = st.builds(Rates, usd, usd, usd, usd)
tokens = st.sampled_from([0, 1, 200_000, 200_001, MAX_TOKENS]) | st.integers(0, MAX_TOKENS)
few = st.integers(0, 1_000_000)
flat = st.builds(Price, rates, st.just("a test"), usd)
tiered = st.builds(Price, rates, st.just("a test"), usd, st.tuples(st.builds(Tier, st.integers(1, 10**6), rates)))
usages = st.builds(Usage, tokens, tokens, st.none() | tokens, st.none(), st.none() | tokens)


@st.composite
def sound_usages(draw: st.DrawFn) -> Usage:
    """The parts lie within the total."""
    fresh, read, written, output = (draw(few) for _ in range(4))
    return Usage(fresh + read + written, output, read, cache_write_tokens=written)


def cost(price: Price, usage: Usage) -> float:
    found = cost_usd(price, usage)
    assert found is not None
    return found


@pytest.mark.case("T50")
@given(price=tiered, usage=usages)
@THOROUGH
def test_cost_is_finite_and_never_negative(price: Price, usage: Usage) -> None:
    found = cost(price, usage)

    assert math.isfinite(found)
    assert found >= price.request_usd


@pytest.mark.bug("H-01", "H-02")
@given(price=flat, one=sound_usages(), other=sound_usages())
@THOROUGH
def test_costs_of_two_requests_are_that_of_all_their_tokens(price: Price, one: Usage, other: Usage) -> None:
    both = Usage(*[(a or 0) + (b or 0) for a, b in zip(structs.astuple(one), structs.astuple(other), strict=True)])

    assert cost(price, one) + cost(price, other) == pytest.approx(cost(price, both) + price.request_usd)


@given(price=flat, usage=sound_usages(), more=few)
@THOROUGH
def test_more_tokens_of_any_kind_never_cost_less(price: Price, usage: Usage, more: int) -> None:
    total, output = usage.input_tokens or 0, usage.output_tokens or 0
    longer = [
        structs.replace(usage, output_tokens=output + more),
        structs.replace(usage, input_tokens=total + more),
        structs.replace(usage, input_tokens=total + more, cached_tokens=(usage.cached_tokens or 0) + more),
        structs.replace(usage, input_tokens=total + more, cache_write_tokens=(usage.cache_write_tokens or 0) + more),
    ]

    assert all(cost(price, each) >= cost(price, usage) * (1 - 1e-12) for each in longer)


@given(price=tiered, usage=sound_usages())
@THOROUGH
def test_cost_lies_between_all_tokens_at_the_lowest_and_at_the_highest_rate(price: Price, usage: Usage) -> None:
    applied = price.rates_for(usage.input_tokens or 0)
    count = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    low, high = min(structs.astuple(applied)), max(structs.astuple(applied))

    tokens_usd = cost(price, usage) - price.request_usd

    slack = 1e-9 * (1 + price.request_usd + count * high / 1e6)
    assert count * low / 1e6 - slack <= tokens_usd <= count * high / 1e6 + slack


@given(price=tiered, input_tokens=tokens, output_tokens=tokens)
@THOROUGH
def test_estimate_is_the_cost_of_so_many_tokens(price: Price, input_tokens: int, output_tokens: int) -> None:
    estimated = estimate_usd(price, input_tokens, output_tokens)

    assert estimated == pytest.approx(cost(price, Usage(input_tokens, output_tokens)), rel=1e-12)


@pytest.mark.bug("C-10")
@given(st.lists(st.none() | st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1e9), min_size=1, max_size=8))
@THOROUGH
def test_only_the_cheapest_keep_their_weight_and_nobody_of_unknown_price_beside_them(found: list[float | None]) -> None:
    weights = tuple(float(number + 1) for number in range(len(found)))

    kept = costs.cheapest(weights, tuple(Estimate(1, 1, usd) for usd in found))

    known = [usd for usd in found if usd is not None]
    assert any(kept)
    for usd, before, after in zip(found, weights, kept, strict=True):
        is_cheapest = not known or (usd is not None and usd <= min(known) * (1 + costs.EQUAL_WITHIN_RATIO))
        assert after == (before if is_cheapest else 0.0)


@pytest.mark.case("T50")
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**40),
            st.sampled_from(Script),
            st.none() | tokens,
            st.none() | tokens,
            st.floats(-1e6, 1e12),
        ),
        max_size=20,
    ),
    st.none() | st.integers(-5, 10**9),
)
@THOROUGH
def test_estimates_stay_sane_whatever_providers_count_and_clocks_do(
    seen: list[tuple[int, Script, int | None, int | None, float]], cap: int | None
) -> None:
    group, lengths = builders.group("chat", "a/m", "b/n", strategy="cost"), Lengths()
    target = group.members[0].target
    for chars, script, input_tokens, output_tokens, now in seen:
        facts = builders.facts(text_chars=chars, script=script)
        lengths.learn(group, target, facts, Usage(input_tokens, output_tokens), now)

    for script in Script:
        facts = builders.facts(text_chars=10_000, script=script, max_output_tokens=cap)
        view = lengths.expected(group, facts, 1_000.0)

        assert all(10_000 / 32 - 1 <= count <= 10_000 / 0.25 + 1 for count in view.input_tokens)
        assert 1 <= view.output_tokens <= (cap if cap is not None and cap > 0 else 1e6)
