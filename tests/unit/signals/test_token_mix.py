"""What the requests of a group are like."""

import pytest

from pointsman.signals.token_mix import TokenMix

NOW = 1_000.0


def test_usual_request_is_all_there_is_at_first() -> None:
    view = TokenMix().view(NOW)

    assert (view.input_tokens, view.output_tokens, view.median_input_tokens) == (1_000, 200, 1_000)


def test_means_are_those_of_the_requests_and_the_median_is_one_of_them() -> None:
    mix = TokenMix()
    for input_tokens in [100] * 60 + [90_000] * 40:
        mix.observe(input_tokens, 50, NOW)

    view = mix.view(NOW)

    assert view.input_tokens == pytest.approx(36_060, rel=0.06)
    assert view.output_tokens == pytest.approx(57, rel=0.01)
    assert view.median_input_tokens == 100


def test_counts_below_zero_are_refused() -> None:
    mix = TokenMix()
    mix.observe(-5, 10, NOW)
    mix.observe(5, -10, NOW)

    assert mix.view(NOW).median_input_tokens == 1_000
