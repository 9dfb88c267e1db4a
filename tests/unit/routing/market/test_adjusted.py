"""The formula of the adjusted price."""

import pytest
from msgspec import structs

from pointsman.routing.market.adjusted import MAX_FAILING_RATIO, PARTS, Parts, Quote, adjusted, capped

PLAIN = Quote(
    ttft_usd=0.1,
    ttft_usd_per_token=0.0,
    speed_usd_per_token=0.0,
    fault_ratio=0.0,
    rejection_ratio=0.0,
    fault_usd=2.0,
    rejection_usd=0.5,
    quality_usd=0.0,
)


def quote(**changes: float) -> Quote:
    return structs.replace(PLAIN, **changes)


def priced(
    *quotes: Quote, tokens_usd: tuple[float, ...] | None = None, inputs: float = 10, output: float = 5
) -> list[Parts]:
    return adjusted(quotes, tokens_usd or (1.0,) * len(quotes), (inputs,) * len(quotes), output)


def part(row: Parts, name: str) -> float:
    return row[PARTS.index(name)]


@pytest.mark.req("O-003")
def test_target_that_never_fails_costs_tokens_and_time() -> None:
    (row,) = priced(quote(ttft_usd_per_token=0.01, speed_usd_per_token=0.02))

    assert row == pytest.approx((1.0, 0.2, 0.1, 0.0, 0.0, 0.0, 1.3))


@pytest.mark.req("O-025")
def test_long_prompt_makes_the_first_token_dearer() -> None:
    short, long = [priced(quote(ttft_usd_per_token=0.01), inputs=tokens)[0] for tokens in (10, 100)]

    assert part(long, "ttft_usd") - part(short, "ttft_usd") == pytest.approx(0.9)


@pytest.mark.req("O-032")
def test_failure_costs_its_penalty_and_what_the_best_other_target_costs_more() -> None:
    failing, dearer, dearest = priced(quote(fault_ratio=0.5), quote(), quote(), tokens_usd=(1.0, 3.0, 9.0))

    assert part(failing, "faults_usd") == pytest.approx(0.5 * (2.0 + 2.0))
    assert part(dearer, "adjusted_usd") == pytest.approx(3.1)
    assert part(dearest, "adjusted_usd") == pytest.approx(9.1)


def test_failure_costs_nothing_more_where_a_cheaper_target_would_answer_then() -> None:
    cheap, failing = priced(quote(), quote(fault_ratio=0.5), tokens_usd=(1.0, 3.0))

    assert part(failing, "faults_usd") == pytest.approx(0.5 * 2.0)
    assert part(cheap, "adjusted_usd") == pytest.approx(1.1)


def test_failure_of_the_only_target_costs_its_penalty() -> None:
    (row,) = priced(quote(fault_ratio=0.5))

    assert part(row, "faults_usd") == pytest.approx(1.0)


@pytest.mark.req("O-050")
def test_refusal_costs_less_than_a_failure() -> None:
    failing, refusing = priced(quote(fault_ratio=0.1), quote(rejection_ratio=0.1))

    assert part(refusing, "rejections_usd") == pytest.approx(0.05)
    assert part(failing, "faults_usd") == pytest.approx(0.2)


@pytest.mark.req("O-040")
def test_broken_answers_have_their_part() -> None:
    (row,) = priced(quote(quality_usd=0.25))

    assert part(row, "quality_usd") == 0.25
    assert part(row, "adjusted_usd") == pytest.approx(1.35)


def test_price_stays_bounded_for_a_target_that_always_fails() -> None:
    (row, _) = priced(capped(PLAIN, 1.0, 1.0), PLAIN)

    assert part(row, "adjusted_usd") == pytest.approx(1.1 + 0.99 * 2.0)


@pytest.mark.parametrize(
    ("given", "kept"), [((0.2, 0.3), (0.2, 0.3)), ((0.9, 0.9), (0.9, 0.09)), ((1.0, 1.0), (0.99, 0.0))]
)
def test_ratios_together_stay_below_one_and_the_dearer_one_is_kept(
    given: tuple[float, float], kept: tuple[float, float]
) -> None:
    found = capped(PLAIN, *given)
    mirrored = capped(quote(fault_usd=0.5, rejection_usd=2.0), *reversed(given))

    assert (found.fault_ratio, found.rejection_ratio) == pytest.approx(kept)
    assert (mirrored.rejection_ratio, mirrored.fault_ratio) == pytest.approx(kept)


def test_request_beyond_the_limits_is_priced_as_one_that_is_refused() -> None:
    refused = quote(fault_ratio=0.1, rejection_ratio=0.01).refused()

    assert (refused.fault_ratio, refused.rejection_ratio) == pytest.approx((0.1, MAX_FAILING_RATIO - 0.1))
