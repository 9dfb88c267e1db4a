"""The story of the demo: one minute that ends as it began, over and over."""

import pytest

from pointsman.demo.events import BUSIEST, EVENTS, LOOP_S, PRICE_RISE, SLOWNESS, THE_SAME, Event, due
from pointsman.demo.providers import CHARACTERS
from pointsman.testing import SimulatedProfile


def profiles() -> dict[str, SimulatedProfile]:
    return {character.name: character.profile() for character in CHARACTERS}


def behaviour(of: SimulatedProfile) -> tuple[float | None, ...]:
    return of.ttft_s, of.tokens_per_s, of.error_ratio, of.rate_limit_per_s


def after(count: int, busiest: str = "steady") -> dict[str, SimulatedProfile]:
    """The providers after the first `count` events."""
    found = profiles()
    for event in EVENTS[:count]:
        if event.change is not None:
            event.change(found[busiest if event.provider in {BUSIEST, THE_SAME} else event.provider])
    return found


def index_of(words: str) -> int:
    return next(number for number, event in enumerate(EVENTS) if words in event.text)


def test_whole_story_fits_into_a_minute_with_time_to_see_its_end() -> None:
    times_s = [event.at_s for event in EVENTS]

    assert times_s == sorted(times_s)
    assert times_s[0] > 0
    assert times_s[-1] <= LOOP_S - 10
    assert LOOP_S <= 60


def test_every_event_is_of_a_provider_that_exists() -> None:
    assert {event.provider for event in EVENTS} <= {character.name for character in CHARACTERS} | {BUSIEST, THE_SAME}


def test_what_happens_to_the_busiest_ends_for_the_same_one() -> None:
    told = [event.provider for event in EVENTS if event.provider in {BUSIEST, THE_SAME}]

    assert told == [BUSIEST, THE_SAME] * 2


@pytest.mark.parametrize("busiest", [character.name for character in CHARACTERS])
def test_story_ends_as_it_began(busiest: str) -> None:
    changed, usual = after(len(EVENTS), busiest), profiles()

    assert {name: behaviour(of) for name, of in changed.items()} == {name: behaviour(of) for name, of in usual.items()}
    assert [event.price_ratio for event in EVENTS if event.price_ratio is not None][-1] == 1.0


def test_cheapest_provider_becomes_dearer_than_the_next_one() -> None:
    usd = {character.name: sum(character.usd_per_mtok) for character in CHARACTERS}

    assert min(usd, key=lambda name: usd[name]) == "thrifty"
    assert usd["steady"] < PRICE_RISE * usd["thrifty"] < usd["swift"]


def test_slow_down_stretches_every_time() -> None:
    (usual, slow) = (after(index_of("slows down") + more)["swift"] for more in (0, 1))

    assert slow.ttft_s == pytest.approx(usual.ttft_s * SLOWNESS)
    assert slow.tokens_per_s == pytest.approx(usual.tokens_per_s / SLOWNESS)


def test_outage_fails_every_request() -> None:
    assert after(index_of("breaks down") + 1)["swift"].error_ratio == 1.0


def test_storm_limits_requests_while_the_outage_lasts() -> None:
    found = after(index_of("429") + 1)

    assert found["steady"].rate_limit_per_s is not None
    assert found["steady"].rate_limit_per_s < 1
    assert found["swift"].error_ratio == 1.0


# --- when


def ticked(until_s: float, tick_s: float) -> list[tuple[float, Event]]:
    """What is due, looked at tick by tick."""
    ticks = range(round(until_s / tick_s))
    return [found for tick in ticks for found in due(tick * tick_s, (tick + 1) * tick_s)]


def test_first_minute_tells_every_event_at_its_time() -> None:
    assert due(0, LOOP_S) == [(event.at_s, event) for event in EVENTS]


@pytest.mark.parametrize("tick_s", [0.25, 1.0, 3.5, 7.0, 70.0])
def test_no_event_is_lost_or_told_twice_however_often_one_looks(tick_s: float) -> None:
    assert ticked(210, tick_s) == due(0, 210)


def test_next_minutes_tell_the_same_story() -> None:
    first, third = due(0, LOOP_S), due(2 * LOOP_S, 3 * LOOP_S)

    assert third == [(at_s + 2 * LOOP_S, event) for at_s, event in first]


def test_event_is_due_at_its_second_and_not_before() -> None:
    begin_s = EVENTS[0].at_s

    assert due(0, begin_s - 0.01) == []
    assert due(begin_s - 0.01, begin_s) == [(begin_s, EVENTS[0])]
    assert due(begin_s, begin_s + 0.01) == []
