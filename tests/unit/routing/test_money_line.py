"""Adjusted prices in words."""

import pytest

from pointsman.routing import explanation, money_line
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, Draws

NUMBERS = {
    "share": 0.62,
    "cost_usd": 0.00092,
    "tokens_usd": 0.00092,
    "ttft_usd": 0.00031,
    "speed_usd": 0.00012,
    "faults_usd": 0.00002,
    "rejections_usd": 0.0,
    "quality_usd": 0.00001,
    "adjusted_usd": 0.00138,
    "gate": 1.0,
}


@pytest.mark.req("O-070")
def test_chosen_one_shows_the_parts_of_its_price() -> None:
    assert money_line.in_full(NUMBERS) == (
        "tokens 0.92 + ttft 0.31 + speed 0.12 + failures 0.02 + 429 0.00 + quality 0.01 = 1.38 USD per 1k requests "
        "share 62%"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "1.38 share 62%"),
        ({"gate": 0.8}, "1.38 share 62% gate 0.80"),
        ({"cost_usd": None}, "1.38 share 62% price unknown"),
    ],
)
def test_others_show_their_price_and_what_applies(changes: dict[str, float | None], line: str) -> None:
    assert money_line.in_short({**NUMBERS, **changes}) == line


@pytest.mark.req("O-070")
def test_line_of_a_decision_in_money() -> None:
    prices = {"a/m": builders.price(9, 9), "b/m": builders.price(1, 1)}
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy="market", prices=prices)
    view = builders.group_view(builders.view(), builders.view(), OPEN)

    line = explanation.line(decide(builders.ask(), group, view, rng=Draws(), lengths=builders.lengths(group)), view)

    chosen, other, out = line.split(" | ")
    assert chosen.startswith("b/m chosen by market: tokens 1.20 + ttft ")
    assert other.startswith("a/m ")
    assert out.startswith("c/m out: it is paused")
