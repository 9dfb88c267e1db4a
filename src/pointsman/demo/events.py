"""What happens to the providers, and when: one minute, over and over."""

from collections.abc import Callable

from msgspec import Struct

from pointsman.testing import SimulatedProfile

LOOP_S = 60.0  # what a newcomer watches before looking away
SLOWNESS = 6.0  # more than the noise of the answers, and than the distance between two characters
STORM_LIMIT_PER_S = 0.2  # of some requests per second: nearly every one gets a 429
PRICE_RISE = 20.0  # from the cheapest to the second dearest

BUSIEST, THE_SAME = "the busiest", "the same"  # who is picked by the strategy is its own choice


class Event(Struct, frozen=True):
    """One turn of the story."""

    at_s: float  # after the loop began
    provider: str  # a name; BUSIEST: who has most of the traffic then; THE_SAME: whom BUSIEST was last
    text: str  # what happens to the provider, as the rest of a sentence
    change: Callable[[SimulatedProfile], None] | None = None  # in how it behaves; None: it goes on as it did
    price_ratio: float | None = None  # of its usual price, in the configuration; None: the price stays


def slow_down(profile: SimulatedProfile) -> None:
    profile.slow_down(SLOWNESS)


def limit(profile: SimulatedProfile) -> None:
    profile.rate_limit_per_s = STORM_LIMIT_PER_S


# swift comes first in every order and has most of the weight; what only some strategies see happens to whom they prefer
EVENTS = (
    Event(4, "swift", f"slows down: everything takes {SLOWNESS:g} times as long", slow_down),
    Event(10, "swift", "is as fast as before", SimulatedProfile.recover),
    Event(12, "swift", "breaks down: it answers every request with an error", SimulatedProfile.break_down),
    Event(16, "steady", "is overrun: it answers nearly every request with 429", limit),
    Event(22, "steady", "has capacity again", SimulatedProfile.recover),
    Event(24, "swift", "is repaired", SimulatedProfile.recover),
    Event(31, BUSIEST, f"slows down: everything takes {SLOWNESS:g} times as long", slow_down),
    Event(38, THE_SAME, "is as fast as before", SimulatedProfile.recover),
    Event(41, BUSIEST, f"costs {PRICE_RISE:g} times as much, says the file from now on", price_ratio=PRICE_RISE),
    Event(50, THE_SAME, "costs what it did before", price_ratio=1.0),
)


def due(after_s: float, until_s: float) -> list[tuple[float, Event]]:
    """The events of the endless loop later than `after_s`, up to and including `until_s`, each with its time."""
    loops = range(int(after_s // LOOP_S), int(until_s // LOOP_S) + 1)
    story = [(loop * LOOP_S + event.at_s, event) for loop in loops for event in EVENTS]
    return [(at_s, event) for at_s, event in story if after_s < at_s <= until_s]
