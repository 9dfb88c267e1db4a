"""What a request, or the key of its caller, demands of the targets that may serve it."""

from enum import StrEnum

from pointsman.domain.capability import Capability
from pointsman.domain.value import Value


class Sort(StrEnum):
    """In which order targets are tried, instead of by the group's strategy."""

    PRICE = "price"
    THROUGHPUT = "throughput"
    LATENCY = "latency"


class MaxPrice(Value):
    """The most that may be charged; None: any price, also one that nobody knows."""

    prompt: float | None = None  # USD per million tokens
    completion: float | None = None
    request: float | None = None  # USD


class Preferences(Value, cache_hash=True):
    """All defaults: none. Names of providers are compared with `names`."""

    order: tuple[str, ...] = ()  # these first, in this order
    allow_fallbacks: bool = True  # False: nobody but those in `order`; without it, nobody but the first choice
    only: tuple[tuple[str, ...], ...] = ()  # each list must name the target
    ignore: tuple[str, ...] = ()
    parameters: frozenset[str] = frozenset()  # fields that the target must understand
    denies_training: bool = False
    zdr: bool = False  # only where nothing is kept
    quantizations: tuple[str, ...] = ()  # empty: any
    sort: Sort | None = None
    max_prices: tuple[MaxPrice, ...] = ()  # each must hold
    models: tuple[str, ...] = ()  # groups to turn to when this one fails, instead of those that it names itself

    def with_more(self, other: "Preferences") -> "Preferences":
        """Both together, for what comes by body and by header: neither can widen what the other has narrowed."""
        return Preferences(
            order=self.order or other.order,
            allow_fallbacks=self.allow_fallbacks and other.allow_fallbacks,
            only=self.only + other.only,
            ignore=self.ignore + other.ignore,
            parameters=self.parameters | other.parameters,
            denies_training=self.denies_training or other.denies_training,
            zdr=self.zdr or other.zdr,
            quantizations=self.quantizations or other.quantizations,
            sort=self.sort or other.sort,
            max_prices=self.max_prices + other.max_prices,
            models=self.models or other.models,
        )


NO_PREFERENCES = Preferences()


class Uncarried(Value):
    """What of a request would not arrive at a target that speaks another dialect."""

    into: str  # the dialect
    parameters: tuple[str, ...] = ()  # names of fields
    content: tuple[str, ...] = ()  # parts of the conversation: they are never left out


class Demands(Value, cache_hash=True):
    """All that hard filters read of a request beyond its dialect."""

    needs: tuple[Capability, ...] = ()
    max_output_tokens: int | None = None  # None: the caller set no cap
    preferences: Preferences = NO_PREFERENCES
    key_policy: Preferences = NO_PREFERENCES  # a ceiling: what the request prefers cannot widen it
    uncarried: tuple[Uncarried, ...] | None = None  # by dialect; None: not looked for, so it can be carried into none


def names(slug: str, provider: str, target_id: str) -> bool:
    """Whether a slug means a target: by its provider, or by its own id. Case is ignored, as slugs have none."""
    wanted = slug.casefold()
    return wanted in (provider.casefold(), target_id.casefold())
