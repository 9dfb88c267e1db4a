"""How fast a target writes, and what its failed attempts cost."""

import math

import pytest

from pointsman.domain.outcome import Outcome, Usage
from pointsman.signals.money import Money, decodes
from pointsman.testing import builders

NOW = 1_000.0


def answer(output_tokens: int | None = 100, *, ttft_s: float | None = 1.0, duration_s: float = 3.0) -> Outcome:
    usage = Usage(input_tokens=10, output_tokens=output_tokens)
    return builders.outcome(status=200, ttft_s=ttft_s, duration_s=duration_s, usage=usage)


def fed(*outcomes: Outcome, stream: bool = True) -> Money:
    money = Money()
    for outcome in outcomes:
        money.observe(outcome, NOW, stream=stream)
    return money


def speeds(*group: Money, slowness: tuple[float | None, ...] | None = None) -> list[float]:
    return [found.tps for found in decodes(group, slowness or (None,) * len(group), NOW)]


@pytest.mark.trap("6")
def test_speed_is_tokens_after_the_first_one_by_seconds_after_it() -> None:
    assert speeds(fed(*[answer()] * 200)) == [pytest.approx(50.0, rel=0.01)]


def test_few_samples_are_drawn_toward_the_group() -> None:
    slow = fed(answer(duration_s=11.0))

    alone, (beside, _) = speeds(slow)[0], speeds(slow, fed(*[answer()] * 50))

    assert alone == pytest.approx(10.0)
    assert 30.0 < beside < 50.0


def test_target_that_never_streamed_starts_as_a_typical_peer() -> None:
    assert speeds(Money(), fed(*[answer(duration_s=2.0)] * 50))[0] == pytest.approx(100.0, rel=0.01)


def test_target_that_never_streamed_writes_as_slowly_as_its_whole_answers_come() -> None:
    assert speeds(Money(), slowness=(4.0,)) == [pytest.approx(12.5)]


def test_usual_speed_is_all_there_is_at_first() -> None:
    assert speeds(Money()) == [pytest.approx(50.0)]


@pytest.mark.parametrize(
    "ended",
    [
        answer(15),
        answer(None),
        answer(ttft_s=None),
        answer(ttft_s=3.0),
        answer(ttft_s=math.nan),
        builders.outcome(status=200, ttft_s=1.0, duration_s=2.0),
    ],
)
def test_answer_that_tells_no_speed_is_left_out(ended: Outcome) -> None:
    assert fed(ended).weight_at(NOW) == 0.0


@pytest.mark.bug("C-06")
@pytest.mark.parametrize("ended", ["upstream_fault", "broken_stream", "rate_limited", "caller_gone"])
def test_failures_say_nothing_about_speed(ended: str) -> None:
    usage = Usage(input_tokens=10, output_tokens=100)

    assert fed(builders.outcome(ended, ttft_s=0.1, duration_s=0.2, usage=usage)).weight_at(NOW) == 0.0


def test_answer_that_came_at_once_is_no_infinite_speed() -> None:
    assert speeds(fed(*[answer(10_000, ttft_s=1.0, duration_s=1.0 + 1e-9)] * 200)) == [pytest.approx(10_000, rel=0.2)]


def test_better_known_speed_has_a_smaller_error() -> None:
    unknown, known = decodes((Money(), fed(*[answer()] * 95)), (None, None), NOW)

    assert (unknown.error, known.error) == (pytest.approx(0.1 / math.sqrt(5)), pytest.approx(0.01))


# --- losses


def test_priors_of_losses() -> None:
    losses = Money().losses_at(NOW)

    assert (losses.fault_s, losses.rejection_s, losses.input_tokens, losses.output_tokens) == (1.0, 0.2, 0.0, 0.0)


@pytest.mark.req("O-032", "O-050")
def test_time_lost_is_learned_apart_for_failures_and_refusals() -> None:
    failed = [builders.outcome("upstream_fault", duration_s=20.0)] * 97
    refused = [builders.outcome("rate_limited", duration_s=2.0)] * 97

    losses = fed(*failed, *refused).losses_at(NOW)

    assert losses.fault_s == pytest.approx(20.0, rel=0.05)
    assert losses.rejection_s == pytest.approx(2.0, rel=0.05)


def test_tokens_that_a_failed_attempt_is_charged_for_are_losses() -> None:
    broken = builders.outcome("broken_stream", duration_s=1.0, usage=Usage(input_tokens=900, output_tokens=90))

    losses = fed(*[broken] * 27).losses_at(NOW)

    assert (losses.input_tokens, losses.output_tokens) == (pytest.approx(810.0), pytest.approx(81.0))


def test_failure_without_a_charge_loses_no_tokens() -> None:
    assert fed(builders.outcome("upstream_fault", duration_s=1.0)).losses_at(NOW).input_tokens == 0.0


# --- answers that come as a whole


def test_first_token_of_a_whole_answer_came_before_the_rest_was_written() -> None:
    assert fed(*[answer()] * 5).unary_ttft_s(answer(100, duration_s=5.0), NOW) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("money", "ended"), [(Money(), answer()), (fed(answer()), answer(400)), (fed(answer()), answer(3))]
)
def test_first_token_of_a_whole_answer_may_not_be_known(money: Money, ended: Outcome) -> None:
    assert money.unary_ttft_s(ended, NOW) is None


def test_whole_answers_tell_no_speed() -> None:
    assert fed(answer(), stream=False).weight_at(NOW) == 0.0
