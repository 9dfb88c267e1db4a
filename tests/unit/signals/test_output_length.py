"""How long answers are, by the length of the question."""

import pytest

from pointsman.signals.output_length import INPUT_BOUNDS_TOKENS, PRIOR_TOKENS, OutputLengths

NOW = 1_000.0
HALF_LIFE_S = 600.0


def after(*answers: int, input_tokens: int = 500) -> OutputLengths:
    lengths = OutputLengths()
    for output_tokens in answers:
        lengths.observe(output_tokens, input_tokens, NOW)
    return lengths


def test_answers_are_expected_at_200_tokens_before_any_was_seen() -> None:
    assert OutputLengths().expected_at(500, NOW) == pytest.approx(PRIOR_TOKENS)
    assert PRIOR_TOKENS == 200


def test_expectation_comes_near_to_what_answers_have() -> None:
    assert after(*[20] * 200).expected_at(500, NOW) == pytest.approx(20, rel=0.15)


def test_expectation_is_the_mean_of_lengths_that_spread() -> None:
    """Half of 100 and half of 400 tokens have a mean of 250; the median of 200 would be too little to pay."""
    expected = after(*[100, 400] * 200).expected_at(500, NOW)

    assert expected == pytest.approx(250, rel=0.05)


def test_one_huge_answer_does_not_rule() -> None:
    assert after(*[50] * 50, 2**53).expected_at(500, NOW) < 500


@pytest.mark.parametrize("input_tokens", [1, 1_000])
def test_length_of_the_question_decides_which_answers_count(input_tokens: int) -> None:
    lengths = after(*[3_000] * 100, input_tokens=1_001)

    assert lengths.expected_at(input_tokens, NOW) == pytest.approx(PRIOR_TOKENS)
    assert lengths.expected_at(4_000, NOW) > 2_000
    assert INPUT_BOUNDS_TOKENS == (1_000, 4_000, 16_000, 64_000)


def test_longest_questions_have_a_bucket_without_an_end() -> None:
    assert after(*[3_000] * 100, input_tokens=64_001).expected_at(10**7, NOW) > 2_000


def test_old_answers_lose_their_weight() -> None:
    lengths = after(*[20] * 5)

    now, later, much_later = (lengths.expected_at(500, NOW + n * HALF_LIFE_S) for n in (0, 1, 100))

    assert now < later < much_later == pytest.approx(PRIOR_TOKENS)


def test_empty_answers_count_as_the_shortest() -> None:
    assert after(*[0] * 100).expected_at(500, NOW) == after(*[1] * 100).expected_at(500, NOW)
