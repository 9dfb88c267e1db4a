"""Characters per token: a usual beginning, then what providers count."""

import pytest

from pointsman.domain.request import Script
from pointsman.signals.input_length import CHARS_PER_TOKEN, TokensPerChar

NOW = 1_000.0
HALF_LIFE_S = 1_800.0


@pytest.mark.parametrize(("script", "chars_per_token"), [(Script.LATIN, 4.0), (Script.CJK, 1.5)])
def test_ratio_begins_at_the_usual_one(script: Script, chars_per_token: float) -> None:
    assert CHARS_PER_TOKEN[script] == chars_per_token
    assert TokensPerChar(script).value_at(NOW) == pytest.approx(1 / chars_per_token)


def test_ratio_comes_near_to_what_is_counted_within_some_requests() -> None:
    ratio = TokensPerChar(Script.LATIN)

    for _ in range(10):
        ratio.observe(3_000, 9_000, NOW)

    assert ratio.value_at(NOW) == pytest.approx(1 / 3, rel=0.02)


def test_long_texts_count_by_their_length() -> None:
    ratio = TokensPerChar(Script.LATIN)
    ratio.observe(100_000, 300_000, NOW)

    ratio.observe(10, 80, NOW)

    assert ratio.value_at(NOW) == pytest.approx(1 / 3, rel=0.01)


def test_what_was_counted_loses_its_weight_and_the_usual_ratio_comes_back() -> None:
    ratio = TokensPerChar(Script.LATIN)
    ratio.observe(1_000, 2_000, NOW)

    values = [ratio.value_at(NOW + age_s) for age_s in (0.0, HALF_LIFE_S, 100 * HALF_LIFE_S)]

    # prior 500 tokens of 2,000 characters; half as much weight after a half-life
    assert values == pytest.approx([1_500 / 4_000, 1_000 / 3_000, 1 / 4])


def test_clock_that_steps_back_changes_nothing() -> None:
    ratio = TokensPerChar(Script.LATIN)
    ratio.observe(1_000, 2_000, NOW)

    assert ratio.value_at(NOW - 5_000) == ratio.value_at(NOW)


@pytest.mark.case("T50")
@pytest.mark.parametrize(("tokens", "chars"), [(0, 100), (100, 0), (2**53, 100), (1, 10_000)])
def test_count_that_cannot_be_of_this_text_is_ignored(tokens: int, chars: int) -> None:
    ratio = TokensPerChar(Script.LATIN)

    ratio.observe(tokens, chars, NOW)

    assert ratio.value_at(NOW) == 0.25
