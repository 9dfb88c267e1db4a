"""Filters by what the request, or the key of its caller, prefers: the hard half of the `provider` object."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pointsman.domain.decision import Exclusion
from pointsman.domain.preferences import NO_PREFERENCES, MaxPrice, Preferences, names
from pointsman.domain.price import Price
from pointsman.domain.target import Member, Target
from pointsman.domain.traits import Traits
from pointsman.routing.filters.asked import Asked

# a wish for a family of formats means its variants, too
_VARIANTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"fp4": frozenset(("fp4", "mxfp4", "nvfp4")), "fp8": frozenset(("fp8", "mxfp8"))}
)
UNKNOWN_QUANTIZATION = "unknown"


def key_policy(asked: Asked, member: Member) -> Exclusion | None:
    """The key's limits come first, and say no more than that they are the key's."""
    return Exclusion.KEY_POLICY if _broken(asked.demands.key_policy, member) is not None else None


def preferences(asked: Asked, member: Member) -> Exclusion | None:
    return _broken(asked.demands.preferences, member)


def _broken(wanted: Preferences, member: Member) -> Exclusion | None:
    if wanted is NO_PREFERENCES:
        return None
    return next((rule for rule, is_broken in _RULES if is_broken(wanted, member.target)), None)


def _is_named(slugs: tuple[str, ...], target: Target) -> bool:
    return any(names(slug, target.provider, target.id) for slug in slugs)


def _is_accepted(wanted: tuple[str, ...], traits: Traits) -> bool:
    name = traits.quantization or UNKNOWN_QUANTIZATION
    return not wanted or any(name == each or name in _VARIANTS.get(each, ()) for each in wanted)


def _is_within(limit: MaxPrice, price: Price | None) -> bool:
    """By the rates of a short request: those that a price list shows. What nobody knows is above every limit."""
    asked = (limit.prompt, limit.completion, limit.request)
    if price is None:
        return asked == (None, None, None)
    charged = (price.rates.input, price.rates.output, price.request_usd)
    return all(most is None or usd <= most for most, usd in zip(asked, charged, strict=True))


def _is_left_out(wanted: Preferences, target: Target) -> bool:
    lists = wanted.only if wanted.allow_fallbacks or not wanted.order else (*wanted.only, wanted.order)
    return not all(_is_named(slugs, target) for slugs in lists)


_RULES: tuple[tuple[Exclusion, Callable[[Preferences, Target], bool]], ...] = (
    (Exclusion.NOT_NAMED, _is_left_out),
    (Exclusion.IGNORED, lambda wanted, target: _is_named(wanted.ignore, target)),
    (Exclusion.TRAINING, lambda wanted, target: wanted.denies_training and target.traits.trains is not False),
    (Exclusion.RETENTION, lambda wanted, target: wanted.zdr and target.traits.zdr is not True),
    (Exclusion.QUANTIZATION, lambda wanted, target: not _is_accepted(wanted.quantizations, target.traits)),
    (Exclusion.PARAMETERS, lambda wanted, target: not wanted.parameters <= (target.traits.parameters or frozenset())),
    (
        Exclusion.TOO_EXPENSIVE,
        lambda wanted, target: not all(_is_within(most, target.price) for most in wanted.max_prices),
    ),
)
