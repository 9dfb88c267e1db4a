"""The simulated providers of the demo."""

import contextlib
from collections.abc import AsyncIterator, Mapping

from msgspec import Struct

from pointsman.testing import FakeProvider, SimulatedProfile

LOG_LIMIT = 1_000  # requests that a provider remembers, so that a long demo does not grow


class Character(Struct, frozen=True):
    """One simulated provider as it usually is, and its weight in the group `demo`."""

    name: str
    weight: int
    ttft_s: float
    tokens_per_s: float
    error_ratio: float
    usd_per_mtok: tuple[float, float]  # input, output

    def profile(self) -> SimulatedProfile:
        """The same, as something that events can change."""
        return SimulatedProfile(self.name, self.ttft_s, self.tokens_per_s, self.error_ratio)


# far enough apart that a reader sees from the speed alone who answered
CHARACTERS = (
    Character("swift", weight=60, ttft_s=0.08, tokens_per_s=120, error_ratio=0.05, usd_per_mtok=(3, 15)),
    Character("steady", weight=30, ttft_s=0.25, tokens_per_s=60, error_ratio=0.0, usd_per_mtok=(1, 5)),
    Character("thrifty", weight=10, ttft_s=0.7, tokens_per_s=20, error_ratio=0.01, usd_per_mtok=(0.1, 0.5)),
)
WEIGHTS = "/".join(str(character.weight) for character in CHARACTERS)


class Fleet(Struct, frozen=True):
    """The running providers, by name: how they behave now, and where they listen."""

    profiles: Mapping[str, SimulatedProfile]
    base_urls: Mapping[str, str]


@contextlib.asynccontextmanager
async def running_fleet() -> AsyncIterator[Fleet]:
    """All characters, listening until the block ends."""
    profiles = {character.name: character.profile() for character in CHARACTERS}
    base_urls: dict[str, str] = {}
    async with contextlib.AsyncExitStack() as stack:
        for name, profile in profiles.items():
            provider = FakeProvider(name=name, answer_for=profile.answer, log_limit=LOG_LIMIT)
            base_urls[name] = (await stack.enter_async_context(provider)).base_url
        yield Fleet(profiles, base_urls)
