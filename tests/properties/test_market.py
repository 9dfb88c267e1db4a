"""Adjusted prices and shares under any circumstances."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs

from pointsman.domain.policy import Market
from pointsman.domain.view import Measured
from pointsman.routing.market import edge
from pointsman.routing.market.adjusted import adjusted
from pointsman.routing.market.outlook import quote
from pointsman.routing.market.worth import worth
from pointsman.testing import builders
from tests.properties.thorough import thorough

THOROUGH = thorough(400)
amounts = st.sampled_from([0.0, 1e-9, 1.0]) | st.floats(0.0, 1e3)
ratios = st.sampled_from([0.0, 0.5, 0.99, 1.0]) | st.floats(0.0, 1.0)
seconds = st.sampled_from([1e-3, 1.0, 1e3]) | st.floats(1e-3, 1e4)
speeds = st.floats(0.1, 1e4)


class Offer(Struct, frozen=True):
    """Everything that makes a target dearer."""

    tokens_usd: float
    ttft_s: float
    s_per_token: float
    pf: float
    pq: float
    pb: float
    fault_s: float
    rejection_s: float

    def measured(self) -> Measured:
        return builders.measured(
            ttft_s=self.ttft_s, decode_tps=1.0 / self.s_per_token, failure_ratio=self.pf, rate_limited_ratio=self.pq,
            broken_ratio=self.pb, fault_s=self.fault_s, rejection_s=self.rejection_s,
        )  # fmt: skip


offers = st.builds(
    Offer,
    tokens_usd=amounts,
    ttft_s=seconds,
    s_per_token=speeds.map(lambda tps: 1.0 / tps),
    pf=ratios,
    pq=ratios,
    pb=ratios,
    fault_s=amounts,
    rejection_s=amounts,
)


def usd(offer: Offer, others: list[Offer], reference: float = 0.001, *, is_refused: bool = False) -> float:
    """The adjusted price of the first of them."""
    value = worth(Market(), reference)
    quotes = [quote(value, each.measured(), None, flagged=False) for each in [offer, *others]]
    if is_refused:
        quotes[0] = quotes[0].refused()
    charges = [each.tokens_usd for each in [offer, *others]]
    return adjusted(quotes, charges, [1_000.0] * len(quotes), 200.0)[0][-1]


@pytest.mark.parametrize("field", Offer.__struct_fields__)
@given(offer=offers, others=st.lists(offers, max_size=4), factor=st.floats(1.0, 10.0), more=st.floats(0.0, 1.0))
@THOROUGH
def test_adjusted_price_never_falls_when_something_gets_worse(
    field: str, offer: Offer, others: list[Offer], factor: float, more: float
) -> None:
    value = getattr(offer, field)
    worse = min(value + more, 1.0) if field in {"pf", "pq", "pb"} else value * factor + more

    before, after = usd(offer, others), usd(structs.replace(offer, **{field: worse}), others)

    assert after >= before * (1.0 - 1e-12)


@given(offer=offers, others=st.lists(offers, max_size=4))
@THOROUGH
def test_request_beyond_a_limit_is_never_cheaper_than_one_within(offer: Offer, others: list[Offer]) -> None:
    assert usd(offer, others, is_refused=True) >= usd(offer, others) * (1.0 - 1e-12)


@given(st.lists(amounts, min_size=1, max_size=20), st.floats(0.001, 1.0))
@THOROUGH
def test_shares_are_positive_fall_with_the_price_and_are_one_for_the_best(prices: list[float], eps: float) -> None:
    found = edge.weights(prices, eps, least_usd=1e-9)

    ranked = sorted(zip(prices, found, strict=True))
    assert all(0.0 < weight <= 1.0 and math.isfinite(weight) for weight in found)
    assert ranked[0][1] == 1.0
    assert all(dearer[1] <= cheaper[1] for cheaper, dearer in pairwise(ranked))
