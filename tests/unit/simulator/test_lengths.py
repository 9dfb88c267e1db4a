"""Lengths of requests."""

from statistics import mean

import pytest

from pointsman.simulator.lengths import LENGTHS, tokens_at

MEANS = {"azure_conv": (1_155, 211), "azure_code": (2_048, 28)}  # of the traces themselves


def drawn(table: tuple[int, ...]) -> list[int]:
    return [tokens_at(table, (number + 0.5) / 2_000) for number in range(2_000)]


@pytest.mark.parametrize("name", MEANS)
def test_means_are_about_those_of_the_trace(name: str) -> None:
    lengths, (input_mean, output_mean) = LENGTHS[name], MEANS[name]

    assert mean(drawn(lengths.input_tokens)) == pytest.approx(input_mean, rel=0.1)
    assert mean(drawn(lengths.output_tokens)) == pytest.approx(output_mean, rel=0.1)


@pytest.mark.parametrize("name", LENGTHS)
def test_quantiles_are_those_of_the_table(name: str) -> None:
    table = LENGTHS[name].input_tokens

    assert [tokens_at(table, chance) for chance in (0.0, 0.01, 0.5, 0.9, 1.0)] == [
        table[0], table[0], table[4], table[6], table[-1],
    ]  # fmt: skip
    assert drawn(table) == sorted(drawn(table))
