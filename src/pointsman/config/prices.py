"""What each target charges, and where that was found."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from pointsman.config import catalogue
from pointsman.config.document import Document
from pointsman.config.kinds import KINDS
from pointsman.config.schema import ConfigFile, PriceEntry, TierEntry
from pointsman.config.targets import upstream_model
from pointsman.domain.price import Price, Rates, Tier
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import Target
from pointsman.routing.strategies import STRATEGIES

_UNPRICED = {"cost": "it is picked last", "market": "it counts as the dearest one"}  # by strategy


def price_of(config: ConfigFile, provider: str, model: str, at: datetime) -> Price | None:
    """The price of a provider's model: as overridden, else as its entry says, else as listed; None: not known."""
    if (written := config.prices.overrides.get(f"{provider}/{model}")) is not None:
        return _price(written, "prices.overrides")
    entry = config.providers[provider]
    for reference, known in entry.models.items():
        if known.price is not None and upstream_model(entry, reference) == model:
            return _price(known.price, f"providers.{provider}.models.{reference}")
    listed_as = KINDS[entry.kind].catalogue
    if listed_as is None or config.prices.catalogue == "off":
        return None
    return catalogue.find(listed_as, model, at)


def _price(entry: PriceEntry, source: str) -> Price:
    usd = _written(entry)
    rates, tiers = _rates(usd), list[Tier]()
    for above in entry.above:  # in ascending order, says a rule
        usd |= _written(above)
        tiers.insert(0, Tier(above.tokens, _rates(usd)))
    return Price(rates, source, entry.request, tuple(tiers))


def _written(entry: PriceEntry | TierEntry) -> dict[str, float]:
    """USD by kind of tokens, as far as the entry says."""
    return {kind: usd for kind in Rates.__struct_fields__ if (usd := getattr(entry, kind)) is not None}


def _rates(usd: Mapping[str, float]) -> Rates:
    """A cache without a rate of its own is charged as other input."""
    fresh = usd["input"]
    return Rates(fresh, usd["output"], usd.get("cache_read", fresh), usd.get("cache_write", fresh))


def warn_of_unpriced(document: Document, snapshot: Snapshot) -> None:
    """A strategy that compares prices needs them."""
    for name, group in snapshot.groups.items():
        if name != group.name or not group.policy.compares_prices:
            continue
        if STRATEGIES[group.policy.decides].opinion is not None:
            continue  # whoever is asked may have no use for prices
        members = [(index, member.target) for index, member in enumerate(group.members) if member.weight]
        unpriced = [(index, target) for index, target in members if target.price is None]
        if group.policy.reads and len(unpriced) == len(members):
            continue  # prices are one score of several, and here they say nothing
        so = _UNPRICED.get(group.policy.strategy, "its cost counts as neither high nor low")
        for index, target in unpriced:
            message = f"the price of {target.id} is not known, so {so}"
            document.warn(("models", name, "targets", index), message, _how_to_price(target))


def notes_of(snapshot: Snapshot) -> tuple[str, ...]:
    """One line per target: its price, and where it was found."""
    targets = {member.target.id: member.target for group in snapshot.groups.values() for member in group.members}
    return tuple(f"price of {target.id}: {_told(target)}" for target in targets.values())


def _told(target: Target) -> str:
    price = target.price
    if price is None:
        return f"not known. {_how_to_price(target)}"
    return f"{'; '.join(_parts(price))} ({price.source})"


def _parts(price: Price) -> Iterator[str]:
    yield f"{_told_rates(price.rates)} USD per million tokens"
    if price.request_usd:
        yield f"{price.request_usd:g} USD per request"
    for tier in reversed(price.tiers):
        yield f"above {tier.above_tokens:,} input tokens: {_told_rates(tier.rates)}"


def _told_rates(rates: Rates) -> str:
    told = f"input {rates.input:g}, output {rates.output:g}"
    caches = {"cache read": rates.cache_read, "cache write": rates.cache_write}
    return told + "".join(f", {kind} {usd:g}" for kind, usd in caches.items() if usd != rates.input)


def _how_to_price(target: Target) -> str:
    return f"Write its `price` below `providers.{target.provider}.models`, or into `prices.overrides`."
