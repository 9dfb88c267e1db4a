"""Answers refuse what would show up as a hanging test, and `stream_of` is a proper stream."""

from collections.abc import Callable

import pytest

from pointsman.testing import Events, Raw, Truncated, stream_of


@pytest.mark.parametrize(
    "build",
    [
        lambda: Events((), then="dnoe"),
        lambda: Truncated(then="done"),
        lambda: Raw((), then="cut"),
        lambda: stream_of("a", then="never"),
    ],
)
def test_misspelt_ending_is_refused_and_the_allowed_ones_are_named(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"then must be one of .*(reset|stall)"):
        build()


@pytest.mark.parametrize("split", [0, -1])
def test_split_below_one_byte_is_refused(split: int) -> None:
    with pytest.raises(ValueError, match=f"split must be at least 1, got {split}"):
        Events((), split=split)


@pytest.mark.parametrize("then", ["done", "end"])
def test_stream_that_ends_properly_carries_a_finish_reason(then: str) -> None:
    events = stream_of("a", "b", then=then).events

    choices = [event["choices"][0] for event in events]
    assert [choice["delta"].get("content") for choice in choices] == ["", "a", "b", None]
    assert choices[-1]["finish_reason"] == "stop"


@pytest.mark.parametrize("then", ["cut", "reset", "stall"])
def test_stream_that_breaks_off_carries_none(then: str) -> None:
    events = stream_of("a", then=then).events

    assert {event["choices"][0]["finish_reason"] for event in events} == {None}


def test_stream_of_passes_its_pace_and_cut_on() -> None:
    stream = stream_of("a", gap_s=0.5, split=3)

    assert (stream.gap_s, stream.split) == (0.5, 3)
