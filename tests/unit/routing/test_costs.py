"""Which candidates charge least, and the numbers behind it."""

import pytest
from msgspec import structs

from pointsman.domain.decision import DecisionMode, Estimate
from pointsman.domain.outcome import Usage
from pointsman.domain.price import Rates, estimate_usd
from pointsman.domain.view import LengthView
from pointsman.routing import costs
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, Draws, Request, decided, picked, view_of

PRICES = {"a/m": builders.price(3, 15), "b/m": builders.price(1, 5), "c/m": builders.price(2, 10)}
GROUP = builders.group("chat", "a/m", "b/m", "c/m", "d/m", strategy="cost", prices=PRICES)
LENGTHS = LengthView((1_000, 1_200, 1_000, 1_000), 200)


def estimates(*usd: float | None) -> tuple[Estimate, ...]:
    return tuple(Estimate(1, 1, each) for each in usd)


def test_double_and_triple_cost_get_a_quarter_and_a_ninth_of_the_weight() -> None:
    assert costs.inverse_square((2.0, 2.0, 2.0), estimates(1.0, 2.0, 3.0)) == pytest.approx((2.0, 2 / 4, 2 / 9))


def test_inverse_square_of_an_unknown_cost_is_that_of_the_median() -> None:
    assert costs.inverse_square((1.0,) * 4, estimates(1.0, None, 2.0, 4.0))[1] == pytest.approx(1 / 4)
    assert costs.inverse_square((3.0, 1.0), estimates(None, None)) == (3.0, 1.0)


def test_inverse_square_of_a_free_target_leaves_nothing_to_the_others() -> None:
    assert costs.inverse_square((1.0, 1.0), estimates(0.0, 1.0)) == (1.0, 0.0)


def test_inverse_square_of_prices_one_two_three_splits_as_it_is_known_to() -> None:
    prices = {f"{usd}/m": builders.price(usd, usd) for usd in (1, 2, 3)}
    group = builders.group("chat", *prices, strategy="inverse_square", prices=prices)

    decision = decided(group, draw=0.8)

    assert decision.shares == pytest.approx((0.735, 0.184, 0.082), abs=0.001)
    assert (picked(decision), decision.pick and decision.pick.mode) == ("2/m", DecisionMode.INVERSE_SQUARE)


@pytest.mark.req("O-023")
def test_decision_has_what_each_candidate_was_expected_to_charge() -> None:
    decision = decided(GROUP, lengths=LENGTHS)

    assert dict(zip(decision.candidates, decision.estimates, strict=True)) == {
        "a/m": Estimate(1_000, 200, pytest.approx(0.006)),
        "b/m": Estimate(1_200, 200, pytest.approx(0.0022)),
        "c/m": Estimate(1_000, 200, pytest.approx(0.004)),
        "d/m": Estimate(1_000, 200, None),
    }
    assert (picked(decision), decision.pick and decision.pick.mode) == ("b/m", DecisionMode.COST)


def test_tokens_of_each_candidate_are_its_own_when_others_are_out() -> None:
    decision = decided(GROUP, {"a/m": OPEN}, lengths=LENGTHS)

    assert [estimate.input_tokens for estimate in decision.estimates] == [1_200, 1_000, 1_000]


@pytest.mark.req("G-081")
def test_single_target_is_not_estimated() -> None:
    decision = decided(builders.group("chat", "a/m", strategy="cost"), lengths=LengthView((1_000,), 200))

    assert (decision.pick and decision.pick.mode, decision.estimates) == (DecisionMode.SINGLE, ())


def test_prices_cannot_be_compared_without_lengths() -> None:
    with pytest.raises(ValueError, match="how long the request is"):
        decide(builders.ask(), GROUP, view_of(GROUP), rng=Draws())


@pytest.mark.parametrize(
    ("usd", "kept"),
    [
        ((1.0, 1.0099, 1.02), (1.0, 2.0, 0.0)),  # 1 % is no difference
        ((0.0, 0.0, 1e-9), (1.0, 2.0, 0.0)),
        ((None, 5.0, None), (0.0, 2.0, 0.0)),
        ((None, None, None), (1.0, 2.0, 3.0)),
    ],
)
def test_cheapest_keep_their_weights(usd: tuple[float | None, ...], kept: tuple[float, ...]) -> None:
    assert costs.cheapest((1.0, 2.0, 3.0), estimates(*usd)) == kept


@pytest.mark.req("O-022", "C-09")
def test_costs_are_what_targets_really_charge() -> None:
    decision = decided(GROUP, lengths=structs.replace(LENGTHS, price_factors=(1.0, 3.0, 0.5, 2.0)))

    assert [estimate.cost_usd for estimate in decision.estimates] == [
        pytest.approx(0.006), pytest.approx(0.0066), pytest.approx(0.002), None,
    ]  # fmt: skip
    assert picked(decision) == "c/m"


def test_factors_of_cached_input_are_the_same() -> None:
    lengths = structs.replace(LENGTHS, cached_tokens=(0, 1_000, 0, 0), price_factors=(1.0, 2.0, 1.0, 1.0))
    plain = decided(GROUP, lengths=structs.replace(lengths, price_factors=())).estimates

    found = decided(GROUP, lengths=lengths).estimates

    assert plain[1].cost_usd is not None
    assert found[1] == structs.replace(plain[1], cost_usd=2.0 * plain[1].cost_usd)
    assert (found[0], found[2:]) == (plain[0], plain[2:])


# --- through an exchange


def test_complete_answer_teaches_lengths() -> None:
    request = Request(group=GROUP)
    request.start()

    request.ends("ok", usage=Usage(10, 20))

    assert request.board.learned == [("b/m", Usage(10, 20))]


@pytest.mark.parametrize("outcome_class", ["upstream_fault", "broken_stream", "caller_gone", "bad_payload"])
def test_answer_that_is_not_complete_teaches_nothing(outcome_class: str) -> None:
    request = Request(group=GROUP)
    request.start()

    request.ends(outcome_class, usage=Usage(10, 20))

    assert request.board.learned == []


def test_group_that_compares_no_prices_learns_no_lengths() -> None:
    request = Request("a/m", "b/m")
    request.start()

    request.ends("ok", usage=Usage(10, 20))

    assert request.board.learned == []


@pytest.mark.bug("H-06")
def test_failover_goes_to_the_next_cheapest_and_each_attempt_has_its_own_price() -> None:
    request = Request(group=GROUP)
    request.start()

    request.ends("bad_payload", usage=Usage(1_000, 100))
    request.ends("ok", usage=Usage(1_000, 100))

    rows = [(attempt.target_id, attempt.cost_usd) for attempt in request.exchange.attempts]
    assert rows == [("b/m", pytest.approx(0.0015)), ("c/m", pytest.approx(0.003))]


DISCOUNT = structs.replace(builders.price(2, 10), rates=Rates(input=2, output=10, cache_read=0.2, cache_write=2))


def test_input_from_a_cache_is_charged_at_its_own_rate() -> None:
    assert estimate_usd(DISCOUNT, 1_000, 100, 600) == pytest.approx((400 * 2 + 600 * 0.2 + 100 * 10) / 1e6)


def test_dearer_target_with_a_warm_cache_may_be_the_cheapest() -> None:
    prices = {"a/m": builders.price(1, 10), "b/m": DISCOUNT}
    group = builders.group("chat", "a/m", "b/m", strategy="cost", prices=prices)

    cold, warm = (decided(group, lengths=LengthView((10_000, 10_000), 1, cached)) for cached in ((0, 0), (0, 9_000)))

    assert (picked(cold), picked(warm)) == ("a/m", "b/m")
    assert [estimate.cached_tokens for estimate in warm.estimates] == [0, 9_000]


def test_cached_tokens_of_each_candidate_are_its_own_when_others_are_out() -> None:
    prices = {"b/m": DISCOUNT, "c/m": DISCOUNT}
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy="cost", prices=prices)

    decision = decided(group, {"a/m": OPEN}, lengths=LengthView((100,) * 3, 1, (1, 2, 3)))

    assert [estimate.cached_tokens for estimate in decision.estimates] == [2, 3]
