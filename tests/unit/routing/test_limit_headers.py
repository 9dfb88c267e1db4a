"""What providers say is left of their limits."""

import pytest

from pointsman.domain.outcome import LimitedUnit, ToldLimit
from pointsman.http1.header_block import HeaderBlock
from pointsman.routing.limit_headers import MARK, told_limits

NOW_UTC = 1_764_504_000.0  # 2025-11-30T12:00:00Z
REQUESTS, TOKENS = LimitedUnit.REQUESTS, LimitedUnit.TOKENS


def told(**values: str) -> tuple[ToldLimit, ...]:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in values.items())
    block = HeaderBlock(f"\r\n{lines}".encode())
    assert not values or MARK in block.lowered
    return told_limits(block.lowered, block.get, NOW_UTC)


def openai(remaining: str = "0", reset: str = "20s", limit: str = "100") -> tuple[ToldLimit, ...]:
    return told(
        x_ratelimit_limit_requests=limit, x_ratelimit_remaining_requests=remaining, x_ratelimit_reset_requests=reset
    )


@pytest.mark.bug("B-06")
@pytest.mark.parametrize(
    ("written", "reset_s"),
    [("20ms", 0.02), ("1s", 1), ("1.5s", 1.5), ("6m0s", 300), ("1m0.5s", 60.5), ("2m", 120), ("1h", 300), ("7", 7),
     ("2025-11-30T12:00:10Z", 10), ("2025-11-30T13:00:20+01:00", 20), ("2025-11-30T09:00:30.25-03:00", 30)],
)  # fmt: skip
def test_reset_is_read_in_every_form(written: str, reset_s: float) -> None:
    (found,) = openai(reset=written)

    assert found == ToldLimit(REQUESTS, 0.0, pytest.approx(reset_s))


@pytest.mark.bug("B-06")
@pytest.mark.parametrize(
    "written",
    [
        "",
        "abc",
        "-5",
        "nan",
        "inf",
        "1e999",
        "0",
        "0s",
        "2020-01-01T00:00:00Z",
        "2025-13-01T12:00:10Z",
        "2025-11-30",
        "s",
        "m",
    ],
)
def test_reset_that_is_none_was_not_said(written: str) -> None:
    assert openai(reset=written) == ()


@pytest.mark.parametrize("remaining", ["", "abc", "-1", "nan", "inf"])
def test_what_is_left_must_be_a_number(remaining: str) -> None:
    assert openai(remaining=remaining) == ()


@pytest.mark.parametrize(("remaining", "count"), [("0", 1), ("20", 1), ("21", 0), ("100", 0)])
def test_limit_of_which_plenty_is_left_is_no_news(remaining: str, count: int) -> None:
    assert len(openai(remaining=remaining)) == count


def test_without_a_limit_what_is_left_counts_by_itself() -> None:
    found = told(x_ratelimit_remaining_tokens="5000", x_ratelimit_reset_tokens="10s")

    assert found == (ToldLimit(TOKENS, 5_000.0, 10.0),)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("requests", REQUESTS), ("tokens", TOKENS), ("input_tokens", TOKENS), ("output_tokens", TOKENS)],
)
def test_anthropic_names_its_limits_the_other_way_round(name: str, unit: LimitedUnit) -> None:
    found = told(**{
        f"anthropic_ratelimit_{name}_limit": "50",
        f"anthropic_ratelimit_{name}_remaining": "3",
        f"anthropic_ratelimit_{name}_reset": "2025-11-30T12:00:30Z",
    })  # fmt: skip

    assert found == (ToldLimit(unit, 3.0, 30.0),)


def test_answer_without_such_headers_says_nothing() -> None:
    assert told() == ()


def test_limit_of_which_plenty_is_left_hides_no_other() -> None:
    found = told(
        x_ratelimit_limit_requests="100", x_ratelimit_remaining_requests="90", x_ratelimit_reset_requests="1s",
        x_ratelimit_limit_tokens="1000", x_ratelimit_remaining_tokens="10", x_ratelimit_reset_tokens="5s",
    )  # fmt: skip

    assert found == (ToldLimit(TOKENS, 10.0, 5.0),)
