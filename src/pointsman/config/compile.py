"""A checked file to the domain's values: nothing else leaves this package."""

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec import Struct

from pointsman.config import embeddings, fallbacks, outside, scores, values
from pointsman.config.keys import single_targets
from pointsman.config.kinds import KINDS
from pointsman.config.places import home_folder, state_folder
from pointsman.config.prices import price_of
from pointsman.config.rules import needs_key
from pointsman.config.schema import (
    AdaptiveSection,
    AffinitySection,
    ConfigFile,
    ContractSection,
    CooldownSection,
    GroupEntry,
    MarketTerms,
    P2cWeights,
    ProviderEntry,
    TargetEntry,
    TimeoutsSection,
)
from pointsman.config.settings import DECISIONS_FILE, Settings
from pointsman.config.strategy import Choice, choose, explained
from pointsman.config.targets import falls_short, place_of, same_as, upstream_model
from pointsman.config.traits import requires_of, scan_of, traits_of
from pointsman.domain.access import AdminToken, KeyRing
from pointsman.domain.opinion import Adviser
from pointsman.domain.policy import (
    Affinity,
    AffinityMode,
    Blend,
    Contract,
    Cooldown,
    Market,
    P2c,
    PinRecord,
    Retry,
    RoutingPolicy,
    Timeouts,
)
from pointsman.domain.secret import Secret
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import Limits, Member, ModelGroup, Provider, Target, Terminator
from pointsman.routing.strategies import ADAPTIVE, STRATEGIES, equipped

PROCESS_KEY = os.urandom(16)  # makes digests of credentials worthless outside of this process
_DEFAULT_WEIGHT = 1.0  # of a target without one: an equal share


def settings_of(
    config: ConfigFile, folder: Path, environ: Mapping[str, str], admin_token: AdminToken | None = None
) -> Settings:
    """The part that is fixed at start. A relative path counts from `folder`, where the file is."""
    server, decisions = config.server, config.records.decisions
    return Settings(
        listen=server.listen,
        admin_listen=server.admin_listen,
        body_limit_bytes=server.limits.body,
        max_connections=server.limits.connections,
        strangers_per_address=server.limits.strangers_per_address,
        queue_s=server.limits.queue,
        memory_bytes=server.limits.memory,
        stream_keepalive_s=server.stream_keepalive,
        drain_s=server.drain,
        decisions_path=_decisions_path(decisions.path, folder, environ),
        decisions_max_bytes=decisions.max_bytes,
        decisions_max_rows=decisions.max_rows,
        log_level=config.logs.level,
        log_requests=config.logs.requests,
        admin_token=admin_token,
    )


def snapshot_of(
    config: ConfigFile,
    config_version: int,
    created_utc: int,
    credential_key: bytes,
    keys: KeyRing | None,
    priced_at: datetime,
    advisers: Mapping[str, Adviser],
) -> Snapshot:
    """The part that a reload replaces as a whole. Prices are those in force at `priced_at`; `advisers` by group."""
    timeouts = _timeouts(config.timeouts)
    providers = {name: _provider(name, entry, timeouts) for name, entry in config.providers.items()}
    groups: dict[str, ModelGroup] = {}
    for name, entry in config.models.items():
        if entry.enabled:
            group = outside.advised(_group(config, name, entry, credential_key, priced_at), entry, advisers)
            groups.update(dict.fromkeys((name, *entry.aliases), group))
    groups = fallbacks.linked(config, groups)
    direct = {
        name: _group(config, name, GroupEntry(targets=[TargetEntry(model=name)]), credential_key, priced_at)
        for name in single_targets(config)
    }
    return Snapshot(
        config_version=config_version,
        groups=MappingProxyType(groups),
        providers=MappingProxyType(providers),
        created_utc=created_utc,
        timeouts=timeouts,
        shows_details=config.server.response_headers == "full",
        keys=keys,
        services=MappingProxyType(outside.services(config, timeouts)),
        direct=MappingProxyType(direct),
    )


def notes_of(snapshot: Snapshot, config: ConfigFile) -> tuple[str, ...]:
    """What was decided for each group, in the order of the file."""
    return tuple(line for name in config.models for line in _group_notes(name, config.models[name], snapshot))


def _group_notes(name: str, entry: GroupEntry, snapshot: Snapshot) -> Iterable[str]:
    group = snapshot.groups.get(name)
    if group is None:
        yield f"{name}: not enabled"
        return
    policy = group.policy
    order = ", then ".join(member.target.id for member in group.members)
    shares = "/".join(f"{member.weight:g}" for member in group.members)
    detail = order if policy.strategy == "failover" else shares
    yield f"{name}: {policy.strategy} ({detail}) because {policy.strategy_reason}"
    if (explanation := explained(policy)) is not None:
        by = "" if policy.selector is None else f" by {policy.selector}"
        yield f"{name}: {policy.strategy}{by}: {explanation}"
    if policy.affinity.mode is not AffinityMode.OFF:
        yield f"{name}: sessions keep their targets ({policy.affinity.mode}, {policy.affinity.ttl_s:g} s)"
    missing = [m.target.id for m, target in zip(group.members, entry.targets, strict=True) if target.weight is None]
    if 0 < len(missing) < len(group.members):
        yield f"{name}: {', '.join(missing)} has no weight and so weighs {_DEFAULT_WEIGHT:g}"


def _decisions_path(written: str | None, folder: Path, environ: Mapping[str, str]) -> Path:
    if written is None:
        return state_folder(environ) / DECISIONS_FILE
    return folder / (home_folder(environ) / written[2:] if written.startswith("~/") else written)


def _timeouts(section: TimeoutsSection) -> Timeouts:
    return Timeouts(**{f"{key}_s": seconds for key, seconds in section.model_dump().items()})


def _provider(name: str, entry: ProviderEntry, timeouts: Timeouts) -> Provider:
    kind = KINDS[entry.kind]
    url = entry.base_url or values.base_url(kind.base_url)
    overrides = entry.timeouts.model_dump(exclude_none=True)
    return Provider(
        name=name,
        kind=entry.kind,
        origin=url.origin,
        path_prefix=url.path_prefix,
        timeouts=msgspec.structs.replace(timeouts, **{f"{key}_s": seconds for key, seconds in overrides.items()}),
        api_key=None if entry.api_key is None else Secret(entry.api_key),
        key_style=kind.key_style,
        headers=_headers(kind.headers, entry.headers),
        terminator=Terminator(entry.terminator),
        idle_connection_s=kind.idle_connection_s,
        counts_tokens=kind.counts_tokens,
        checks_signatures=kind.checks_signatures,
    )


def _headers(usual: Mapping[str, str], written: Mapping[str, str]) -> tuple[tuple[str, Secret], ...]:
    """All headers; a written one replaces the usual one of its name."""
    replaced = {name.lower() for name in written}
    fields = {**{name: value for name, value in usual.items() if name not in replaced}, **written}
    return tuple((name, Secret(value)) for name, value in fields.items())


def _group(config: ConfigFile, name: str, entry: GroupEntry, credential_key: bytes, priced_at: datetime) -> ModelGroup:
    places = [place for place in map(place_of, entry.targets) if place is not None]  # the rules left no None
    identities = [same_as(config.providers[provider], reference) for provider, reference in places]
    members = tuple(
        Member(
            _target(config, provider, reference, credential_key, priced_at),
            _DEFAULT_WEIGHT if target.weight is None else target.weight,
            frozenset(target.tags),
            shares_space=shares_space,
        )
        for (provider, reference), target, shares_space in zip(
            places, entry.targets, embeddings.comparable(config, entry), strict=True
        )
    )
    targets = [member.target for member in members]
    policy = equipped(_policy(config, entry, choose(entry, identities)), targets)
    policy = msgspec.structs.replace(policy, scan=scan_of(policy, targets))
    return ModelGroup(name, tuple(entry.aliases), members, policy, embeddings.space_of(config, entry))


def _target(config: ConfigFile, provider: str, reference: str, credential_key: bytes, priced_at: datetime) -> Target:
    entry = config.providers[provider]
    model = upstream_model(entry, reference)
    public_id = f"{provider}/{model}"
    has_credential = entry.api_key is not None or not needs_key(entry)
    state_key = f"{public_id}#{_account(entry, credential_key)}"
    dialects = KINDS[entry.kind].dialects if entry.dialects is None else frozenset(entry.dialects)
    price = price_of(config, provider, model, priced_at)
    traits = traits_of(config, provider, reference)
    return Target(
        public_id, provider, model, state_key, dialects, has_credential, price, traits,
        limits=_limits(entry), flagged=falls_short(entry, reference),
    )  # fmt: skip


def _limits(provider: ProviderEntry) -> Limits | None:
    limits = Limits(provider.max_concurrent, provider.max_rps, provider.max_tpm)
    return None if limits == Limits() else limits


def _account(entry: ProviderEntry, credential_key: bytes) -> str:
    """A digest of where requests go and of all that may be a credential: another one has nothing to forgive (J-09)."""
    account = repr((entry.kind, entry.base_url, entry.api_key, sorted(entry.headers.items())))
    return blake2b(account.encode(), key=credential_key, digest_size=4).hexdigest()


def _cooldown(preset: Cooldown, section: CooldownSection) -> Cooldown:
    """What is written replaces what the strategy would do."""
    written = {"base_s": section.base, "max_s": section.max, "on_429": section.on_429}
    return msgspec.structs.replace(preset, **{name: value for name, value in written.items() if value is not None})


def _market(section: MarketTerms, *, enabled: bool) -> Market:
    return Market(
        enabled=enabled,
        **section.model_dump(exclude={"enabled", "exploration"}),
        probe_interval_s=section.exploration.interval,
        probe_spend_ratio=section.exploration.spend,
    )


def _policy(config: ConfigFile, entry: GroupEntry, choice: Choice) -> RoutingPolicy:
    scoring = _adaptive(config.adaptive) if choice.strategy == ADAPTIVE else _own(entry, choice.strategy)
    filters = scores.hard_filters_of(entry)
    return RoutingPolicy(
        strategy=choice.strategy,
        strategy_reason=choice.reason,
        selector=scoring.selector,
        affinity=scores.affinity_of(entry) or _affinity(entry.affinity, scoring),
        blend=scoring.blend,
        p2c=scoring.p2c,
        market=scoring.market,
        dynamic_score=scores.policy_of(entry.routing_policy.dynamic_score),
        on_all_unavailable=entry.on_all_unavailable,
        cooldown=_cooldown(STRATEGIES[scoring.decides].cooldown, config.cooldown),
        retry=Retry(**config.retry.model_dump()),
        requires=frozenset(needed for section in filters for needed in requires_of(section)),
        requires_window=any(section.require_context_window for section in filters),
        contract=_contract(entry.contract),
        drops_parameters=entry.drop_params == "warn" and not scores.keeps_requests_whole(entry),
    )


def _contract(section: ContractSection) -> Contract:
    floor = section.quality_floor
    return Contract(
        require=frozenset(section.require),
        require_tags=frozenset(floor.require_tags),
        min_quality_score=floor.min_eval_quality_score,
        min_pass_rate=floor.min_eval_pass_rate,
    )


class _Scoring(Struct, frozen=True):
    """What decides for a group, and how."""

    decides: str  # a strategy
    selector: str | None  # the same, where the group names another one
    blend: Blend
    p2c: P2c
    market: Market

    @property
    def is_on(self) -> bool:
        """Whether no kill switch is used."""
        parts: dict[str, Blend | P2c | Market] = {"blend": self.blend, "p2c": self.p2c, "market": self.market}
        return self.decides not in parts or parts[self.decides].enabled


def _own(entry: GroupEntry, strategy: str) -> _Scoring:
    parts = entry.routing_policy
    p2c = _p2c(parts.p2c, enabled=parts.p2c.enabled)
    return _Scoring(
        strategy, None, Blend(**parts.blend.model_dump()), p2c, _market(parts.market, enabled=parts.market.enabled)
    )


def _adaptive(section: AdaptiveSection) -> _Scoring:
    """The kill switch stops whatever is selected."""
    blend = Blend(enabled=section.enabled, **section.blend.model_dump())
    p2c, market = _p2c(section.p2c, enabled=section.enabled), _market(section.market, enabled=section.enabled)
    return _Scoring(section.selector, section.selector, blend, p2c, market)


def _p2c(section: P2cWeights, *, enabled: bool) -> P2c:
    fields = section.model_dump(exclude={"enabled", "warm_cache_ttl"})
    return P2c(enabled=enabled, warm_cache_ttl_s=section.warm_cache_ttl, **fields)


def _affinity(section: AffinitySection, scoring: _Scoring) -> Affinity:
    mode = section.mode or (STRATEGIES[scoring.decides].affinity if scoring.is_on else AffinityMode.OFF)
    usual = PinRecord.SELECTED if mode is AffinityMode.PREFIX else PinRecord.SERVED
    return Affinity(mode, section.ttl, section.max_entries, section.record or usual)
