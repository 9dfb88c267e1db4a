"""The bundled price catalogue. The only user of `genai_prices`: it reads tables out of the package, never the network.

Loading it takes a quarter of a second and some megabytes, so it happens for the first price that is looked up.
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from pointsman.config.embeddings import is_embedding_model
from pointsman.domain.price import Price, Rates, Tier

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices


def find(provider: str, model: str, at: datetime) -> Price | None:
    """The price that is in force at that moment; None: the catalogue does not know it, or not all of it."""
    found = _model(provider, model)
    if found is None:
        return None
    listed = found.get_prices(at)
    if listed.input_mtok is None or (listed.output_mtok is None and not is_embedding_model(model)):
        return None
    starts = sorted(_starts(listed), reverse=True)
    return Price(
        _rates(listed, 0),
        source=f"catalogue: {provider}/{found.id}",
        request_usd=_at(listed.requests_kcount, 0, 0.0) / 1000,
        tiers=tuple(Tier(start, _rates(listed, start)) for start in starts),
    )


def context_tokens(provider: str, model: str) -> int | None:
    """The context window of a model; None: the catalogue does not know it."""
    found = _model(provider, model)
    return None if found is None else found.context_window


def _model(provider: str, model: str) -> "ModelInfo | None":
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    try:
        return get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None


def _rates(listed: "ModelPrice", start: int) -> Rates:
    """The rates from one tier's beginning on; a cache without a rate of its own is charged as other input."""
    fresh = _at(listed.input_mtok, start, 0.0)
    return Rates(
        input=fresh,
        output=_at(listed.output_mtok, start, 0.0),
        cache_read=_at(listed.cache_read_mtok, start, fresh),
        cache_write=_at(listed.cache_write_mtok, start, fresh),
    )


def _at(price: "Decimal | TieredPrices | None", start: int, otherwise: float) -> float:
    if price is None:
        return otherwise
    if isinstance(price, Decimal):
        return float(price)
    reached = [tier.price for tier in price.tiers if tier.start <= start]
    return float(reached[-1] if reached else price.base)


def _starts(listed: "ModelPrice") -> set[int]:
    prices = (listed.input_mtok, listed.output_mtok, listed.cache_read_mtok, listed.cache_write_mtok)
    return {
        tier.start for price in prices if price is not None and not isinstance(price, Decimal) for tier in price.tiers
    }
