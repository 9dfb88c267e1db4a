"""Rules that concern several keys at once. Runs on a document that may have gaps where values were dropped."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from pointsman.config import embeddings, fallbacks, keys, outside, scores, values
from pointsman.config.document import Document
from pointsman.config.kinds import KINDS
from pointsman.config.problems import KeyPath, nearest, quoted
from pointsman.config.schema import (
    BlendWeights,
    ConfigFile,
    GroupEntry,
    MarketTerms,
    ModelEntry,
    PriceEntry,
    ProviderEntry,
)
from pointsman.config.settings import MAX_DRAIN_S
from pointsman.config.strategy import choose
from pointsman.config.targets import place_of, same_as, upstream_model
from pointsman.domain.policy import STRICT, AffinityMode
from pointsman.domain.target import KeyStyle
from pointsman.routing.strategies import ADAPTIVE, STRATEGIES

# A limit that is written out must not be longer than the one that contains it (here: of the whole request).
_WITHIN: dict[str, tuple[str, ...]] = {
    "connect": ("total", "total_stream"),
    "first_content": ("total", "total_stream"),
    "first_content_reasoning": ("total", "total_stream"),
    "idle": ("total_stream",),
    "idle_reasoning": ("total_stream",),
}


def check(document: Document, config: ConfigFile) -> None:
    """Note everything that the schema cannot see."""
    _check_server(document, config)
    _check_limits(document, config)
    for name, provider in config.providers.items():
        _check_provider(document, ("providers", name), provider)
    _check_names(document, config)
    keys.check(document, config)
    for name, group in config.models.items():
        _check_targets(document, config, name)
        embeddings.check(document, config, name)
        _check_weights(document, ("models", name, "targets"), group)
        fallbacks.check(document, config, name)
        outside.check(document, ("models", name), group)
        scores.check(document, ("models", name), group)
        strategy = _check_routing_policy(document, config, name)
        _check_affinity(document, ("models", name, "affinity"), group, strategy, config.adaptive.selector)
    _check_adaptive(document, config)
    _check_models(document, config)
    if not config.models and document.is_whole(("models",)):
        document.warn(("models",), "there is no model group: nothing can be asked for", "Add one under `models`.")


def _check_server(document: Document, config: ConfigFile) -> None:
    server = config.server
    is_open = config.auth.mode == "none" and document.is_whole(("auth",))
    if is_open and not values.is_loopback(server.listen.host):
        fix = f"Write `auth: {{mode: keys}}`, or listen on 127.0.0.1:{server.listen.port}."
        document.add(("server", "listen"), "with `auth: {mode: none}` only loopback addresses are allowed", fix)
    has_token = config.auth.admin_token is not None or not document.is_whole(("auth",))
    if not has_token and not values.is_loopback(server.admin_listen.host):
        fix = f"Set `auth.admin_token`, or listen on 127.0.0.1:{server.admin_listen.port}."
        document.add(("server", "admin_listen"), "without an admin token only loopback addresses are allowed", fix)
    if server.listen == server.admin_listen and server.listen.port:
        document.add(("server", "admin_listen"), "`listen` has the same address", "Give one of them another port.")
    if server.drain > MAX_DRAIN_S:
        document.add(("server", "drain"), "must be at most 10m", "Write 10m or less.")


def _check_limits(document: Document, config: ConfigFile) -> None:
    base_s, max_s = config.cooldown.base or STRICT.base_s, config.cooldown.max or STRICT.max_s
    if max_s < base_s:
        fix = "Raise `max` to at least `base`, or lower `base`."
        document.add(("cooldown", "max"), f"must not be below `base`, {base_s:g} s", fix)
    written = config.timeouts.model_dump(include=config.timeouts.model_fields_set)
    _check_timeouts(document, config, ("timeouts",), written)
    for name, provider in config.providers.items():
        _check_timeouts(document, config, ("providers", name, "timeouts"), provider.timeouts.model_dump())


def _check_timeouts(document: Document, config: ConfigFile, path: KeyPath, written: dict[str, float | None]) -> None:
    totals = {"total": config.timeouts.total, "total_stream": config.timeouts.total_stream}
    for inner, outer in ((inner, outer) for inner, outers in _WITHIN.items() for outer in outers):
        seconds = written.get(inner)
        if seconds is not None and seconds > totals[outer] and document.is_whole(("timeouts", outer)):
            fix = f"Lower it, or raise `timeouts.{outer}`."
            document.add((*path, inner), f"is longer than the whole request, `{outer}` of {totals[outer]:g} s", fix)
            document.closed.add((*path, inner))  # one message per value


def _check_provider(document: Document, path: KeyPath, provider: ProviderEntry) -> None:
    kind = KINDS[provider.kind]
    if provider.base_url is None and kind.base_url is None and document.is_whole(path):
        fix = "Write where it listens, for example base_url: http://127.0.0.1:8000/v1."
        document.add((*path, "base_url"), f"is missing, and {provider.kind} has no address of its own", fix)
    if kind.key_style is KeyStyle.X_API_KEY:
        for name in (name for name in provider.headers if name.lower() == "x-api-key"):
            fix = "Remove it; the credential belongs into `api_key`."
            document.add((*path, "headers", name), "the gateway sets this header itself", fix)
    doubles = [name for name, count in Counter(map(str.lower, provider.headers)).items() if count > 1]
    for name in (name for name in provider.headers if name.lower() in doubles):
        document.add((*path, "headers", name), "the header is there twice", "Keep one spelling of it.")
    if needs_key(provider) and provider.api_key is None:
        fix = f"Write api_key: ${{{kind.key_variable}}}."
        document.warn((*path, "api_key"), "no key: the targets of this provider are listed as unavailable", fix)


def needs_key(provider: ProviderEntry) -> bool:
    """Whether requests go to a vendor's own address, which wants a key."""
    own = KINDS[provider.kind].base_url
    return own is not None and (provider.base_url is None or provider.base_url.origin == values.base_url(own).origin)


def _check_names(document: Document, config: ConfigFile) -> None:
    owners = {name: f"the name of group {quoted(name)}" for name in config.models}
    for group, entry in config.models.items():
        for index, alias in enumerate(entry.aliases):
            path = ("models", group, "aliases", index)
            if (owner := owners.get(alias)) is not None:
                document.add(path, f"{document.shown(path, alias)} is already {owner}", "Rename or remove one of them.")
            else:
                owners[alias] = f"an alias of group {quoted(group)}"


def _check_targets(document: Document, config: ConfigFile, group: str) -> None:
    seen: dict[tuple[str, str], int] = {}
    for index, (path, place) in enumerate(_places(document, config, group)):
        if place is None:
            continue
        provider, reference = place
        if provider not in config.providers:
            _check_declared(document, config, path, provider)
            continue
        target = provider, upstream_model(config.providers[provider], reference)
        if (first := seen.setdefault(target, index)) != index:
            message = f"the same provider and model as targets[{first}]"
            document.add(path, message, "Remove one, and give the other the sum of their weights.")


def _places(document: Document, config: ConfigFile, group: str) -> Iterator[tuple[KeyPath, tuple[str, str] | None]]:
    for index, entry in enumerate(config.models[group].targets):
        path: KeyPath = ("models", group, "targets", index)
        place = place_of(entry)
        if place is None and document.is_whole(path):
            fix = "Write {model: provider/model}, or {provider: ..., model_ref: ...}, not a mixture."
            document.add(path, "does not say which model of which provider", fix)
        yield path, place


def _check_declared(document: Document, config: ConfigFile, path: KeyPath, provider: str) -> None:
    """Note a provider that is nowhere declared, unlike one that was dropped as faulty."""
    if document.is_closed(("providers",)) or document.is_closed(("providers", provider)):
        return
    names = {*config.providers, *(str(closed[1]) for closed in document.closed if closed[:1] == ("providers",))}
    key = "model" if document.value((*path, "provider")) is None else "provider"
    place = (*path, key)
    fix = nearest(provider, names, otherwise="Declare it under `providers`.")
    document.add(place, f"unknown provider {document.shown(place, provider)}", fix)


def _check_weights(document: Document, path: KeyPath, group: GroupEntry) -> None:
    if not document.is_whole(path):
        return
    if not group.targets:
        document.add(path, "there is no target", "Add one, for example - {model: provider/model}.")
    elif all(target.weight == 0 for target in group.targets):
        document.add(path, "all weights are 0, so nothing could serve", "Give at least one target a weight above 0.")


def _check_models(document: Document, config: ConfigFile) -> None:
    for name, provider in config.providers.items():
        written: dict[str, PriceEntry] = {}
        for reference, entry in provider.models.items():
            _check_eval(document, ("providers", name, "models", reference, "eval"), entry)
            path: KeyPath = ("providers", name, "models", reference, "price")
            if entry.price is None:
                continue
            _check_tiers(document, path, entry.price)
            if written.setdefault(upstream_model(provider, reference), entry.price) != entry.price:
                document.add(path, "the same model has another price above", "Keep one of them.")
    used = {name for group in config.models.values() for name in _targets(config, group)}
    for target, price in config.prices.overrides.items():
        path = ("prices", "overrides", target)
        _check_tiers(document, path, price)
        if target not in used and document.is_whole(("models",)) and document.is_whole(("providers",)):
            fix = nearest(target, used, otherwise="Remove it, or name a target of a group as provider/model.")
            document.warn(path, f"no group has the target {document.shown(path, target)}", fix)


def _check_eval(document: Document, path: KeyPath, entry: ModelEntry) -> None:
    if entry.eval.score is None and entry.eval.expected is not None and document.is_whole(path):
        document.warn(
            (*path, "expected"), "has no effect: there is no `score` to compare it with", "Write `score`, too."
        )


def _check_tiers(document: Document, path: KeyPath, price: PriceEntry) -> None:
    starts = [tier.tokens for tier in price.above]
    for index, (lower, upper) in enumerate(pairwise(starts), 1):
        if upper <= lower and document.is_whole((*path, "above")):
            fix = "List them in ascending order, each once."
            document.add((*path, "above", index, "tokens"), f"must be above {lower}, the tier before", fix)


def _targets(config: ConfigFile, group: GroupEntry) -> Iterator[str]:
    """The public names of a group's targets, as far as its entries are sound."""
    for provider, reference in _sound(config, group):
        yield f"{provider}/{upstream_model(config.providers[provider], reference)}"


def _sound(config: ConfigFile, group: GroupEntry) -> Iterator[tuple[str, str]]:
    """Provider and model of the group's targets, as far as its entries are sound."""
    for provider, reference in filter(None, map(place_of, group.targets)):
        if provider in config.providers:
            yield provider, reference


def _check_routing_policy(document: Document, config: ConfigFile, name: str) -> str:
    """The strategy. Also of a strategy that is switched off: it must be sound when it is switched on again (R-007)."""
    group, path = config.models[name], ("models", name, "routing_policy")
    _check_blend(document, (*path, "blend"), group.routing_policy.blend)
    _check_market(document, (*path, "market"), group.routing_policy.market)
    identities = [same_as(config.providers[provider], reference) for provider, reference in _sound(config, group)]
    strategy = choose(group, identities).strategy
    if strategy == "market" and len(set(identities)) > 1 and not group.same_model:
        fix = "Write same_model: true if each of them is good enough for every request, or take another strategy."
        document.warn(("models", name, "strategy"), "price chooses between unlike models", fix)
    for part in sorted(group.routing_policy.model_fields_set - {strategy}):
        fix = f"Write strategy: {part}, or remove it."
        document.warn((*path, part), f"has no effect: the strategy of this group is not {part}", fix)
    return strategy


def _check_blend(document: Document, path: KeyPath, blend: BlendWeights) -> None:
    if blend.latency_weight == blend.cost_weight == blend.load_weight == 0:
        fix = "Give one a weight above 0; to stop blending, write enabled: false."
        document.add(path, "all weights are 0, so that chance alone would pick", fix)


def _check_market(document: Document, path: KeyPath, market: MarketTerms) -> None:
    if market.usd_per_second is not None and market.seconds_worth is not None:
        fix = "Keep one of them."
        document.warn((*path, "seconds_worth"), "has no effect: `usd_per_second` comes before it", fix)


def _check_adaptive(document: Document, config: ConfigFile) -> None:
    _check_blend(document, ("adaptive", "blend"), config.adaptive.blend)
    _check_market(document, ("adaptive", "market"), config.adaptive.market)
    for name, group in config.models.items():
        if group.strategy == ADAPTIVE and not config.adaptive.enabled:
            fix = "Write `adaptive: {enabled: true}`, or name another strategy."
            path = ("models", name, "strategy")
            document.warn(path, "adaptive routing is switched off: traffic is shared by weight", fix)


def _check_affinity(document: Document, path: KeyPath, group: GroupEntry, strategy: str, selector: str) -> None:
    row = STRATEGIES[selector if strategy == ADAPTIVE else strategy]
    mode = group.affinity.mode or row.affinity
    if mode is AffinityMode.ECONOMIC and not row.compares_prices:
        named = ", ".join(name for name, row in STRATEGIES.items() if row.compares_prices)
        fix = f"Write mode: strict, or one of the strategies {named}."
        document.add((*path, "mode"), "economic needs a strategy that compares prices", fix)
    if mode is AffinityMode.OFF:
        for name in sorted(group.affinity.model_fields_set - {"mode"}):
            document.warn((*path, name), "has no effect: affinity is off", "Write mode: strict, or remove it.")
