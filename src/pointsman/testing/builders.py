"""Short constructors of domain values, so that a test names only what it is about."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.capability import Capability
from pointsman.domain.conversation import AUTO, Session
from pointsman.domain.decision import Estimate
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.policy import Affinity, RoutingPolicy, Timeouts
from pointsman.domain.preferences import Demands
from pointsman.domain.price import Price, Rates
from pointsman.domain.request import Caller, Dialect, RequestFacts, Scope
from pointsman.domain.secret import Secret
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import Member, ModelGroup, Origin, Provider, Target
from pointsman.domain.traits import Traits
from pointsman.domain.view import GroupView, LengthView, MarketView, Measured, ProbeView, TargetView
from pointsman.routing.strategies import PRESETS, equipped

DEFAULT_CREATED_UTC = 1_800_000_000
NO_PRICES: Mapping[str, Price] = MappingProxyType({})
NO_TRAITS: Mapping[str, Traits] = MappingProxyType({})
NO_PROBES = ProbeView()
DEFAULT_PORTS = {"http": 80, "https": 443}


def price(input_usd: float = 1.0, output_usd: float = 2.0, **overrides: object) -> Price:
    """USD per million tokens, caches at the rate of other input."""
    rates = Rates(input=input_usd, output=output_usd, cache_read=input_usd, cache_write=input_usd)
    return structs.replace(Price(rates, source="a test"), **overrides)


def target(target_id: str, price: Price | None = None, traits: Traits | None = None) -> Target:
    """The target "provider/upstream_model"; what it learns is kept under the same name."""
    provider_name, _, upstream_model = target_id.partition("/")
    known = Traits() if traits is None else traits
    return Target(target_id, provider_name, upstream_model, state_key=target_id, price=price, traits=known)


def traits(*able: str, unable: Iterable[str] = (), **known: object) -> Traits:
    """What a target can do, cannot do, and all else that is known of it."""
    capabilities = {**{Capability(name): True for name in able}, **{Capability(name): False for name in unable}}
    return structs.replace(Traits(capabilities=capabilities), **known)


def policy(strategy: str = "weighted", targets: Iterable[Target] = (), **overrides: object) -> RoutingPolicy:
    """A policy of a group of these targets with all defaults but the overrides."""
    row = PRESETS[strategy]
    usual = RoutingPolicy(strategy, "configured", affinity=Affinity(row.affinity), cooldown=row.cooldown)
    return structs.replace(equipped(structs.replace(usual, **overrides), targets), **overrides)


def group(
    name: str,
    *members: str | tuple[str, float],
    strategy: str = "weighted",
    aliases: tuple[str, ...] = (),
    prices: Mapping[str, Price] = NO_PRICES,
    traits: Mapping[str, Traits] = NO_TRAITS,
    **policy_overrides: object,
) -> ModelGroup:
    """A group of targets; a member without a weight has weight 1. `prices` and `traits` are by target id."""
    pairs = [(member, 1.0) if isinstance(member, str) else member for member in members]
    found = tuple(
        Member(target=target(target_id, prices.get(target_id), traits.get(target_id)), weight=weight)
        for target_id, weight in pairs
    )
    targets = [member.target for member in found]
    return ModelGroup(name=name, aliases=aliases, members=found, policy=policy(strategy, targets, **policy_overrides))


def facts(**overrides: object) -> RequestFacts:
    """A short unary chat request for the group "chat"."""
    usual = RequestFacts(dialect=Dialect.OPENAI_CHAT, model="chat", stream=False, body_bytes=64)
    return structs.replace(usual, **overrides)


def session(key: str = "s1", *, auto: bool = False, has_begun: bool = False) -> Session:
    """A conversation that its caller has named, unless `auto`."""
    return Session(key, AUTO if auto else "x-session-id", has_begun)


def caller(name: str = "alice", *scopes: Scope) -> Caller:
    """A caller who may chat, and nothing else unless scopes are named."""
    return Caller(name=name, scopes=frozenset(scopes or (Scope.CHAT,)))


def ask(
    by: str = "alice",
    *,
    config: Snapshot | None = None,
    request_id: str = "req-1",
    demands: Demands | None = None,
    **fact_overrides: object,
) -> Ask:
    """A request of the caller `by`; without `config` there is one group, "chat" with "a/m". All else are its facts."""
    begun_with = snapshot([group("chat", "a/m")]) if config is None else config
    return Ask(
        request_id=request_id, caller=caller(by), facts=facts(**fact_overrides), snapshot=begun_with, demands=demands
    )


def view(**overrides: object) -> TargetView:
    """A target about which nothing bad is known."""
    return structs.replace(TargetView(), **overrides)


def measured(in_flight: int = 0, **overrides: object) -> Measured:
    """A target about which nothing else is known."""
    return structs.replace(Measured(in_flight), **overrides)


def group_view(
    *targets: TargetView,
    turn_credits: tuple[float, ...] | None = None,
    measured: tuple[Measured, ...] | None = None,
    served: int = 0,
    market: MarketView | None = None,
    probes: ProbeView = NO_PROBES,
) -> GroupView:
    """Views in the order of the group's members; nobody is owed a turn, nothing was measured, unless it is given."""
    is_calm = all(seen.is_calm for seen in targets)
    owed = (0.0,) * len(targets) if turn_credits is None else turn_credits
    found = (Measured(0),) * len(targets) if measured is None else measured
    return GroupView(is_calm, targets, owed, found, served, market or MarketView(), probes)


def lengths(of: ModelGroup, input_tokens: int = 1_000, output_tokens: int = 200) -> LengthView:
    """A request that has as many tokens at every target."""
    return LengthView((input_tokens,) * len(of.members), output_tokens)


def estimates(of: ModelGroup, cost_usd: float | None = None) -> tuple[Estimate, ...]:
    """What each target is expected to charge for a request of usual length."""
    return (Estimate(1_000, 200, cost_usd),) * len(of.members)


def outcome(outcome_class: OutcomeClass | str = OutcomeClass.OK, **overrides: object) -> Outcome:
    """The end of an attempt."""
    return structs.replace(Outcome(OutcomeClass(outcome_class)), **overrides)


def provider(
    name: str, base_url: str = "http://127.0.0.1:9/v1", *, api_key: str | None = None, **overrides: object
) -> Provider:
    """An account at the origin of a base URL that speaks OpenAI Chat."""
    parts = urlsplit(base_url)
    usual = Provider(
        name=name,
        kind="openai",
        origin=Origin(parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]),
        path_prefix=parts.path.rstrip("/"),
        timeouts=Timeouts(),
        api_key=None if api_key is None else Secret(api_key),
    )
    return structs.replace(usual, **overrides)


def snapshot(
    groups: Iterable[ModelGroup],
    providers: Iterable[Provider] | None = None,
    *,
    config_version: int = 1,
    **overrides: object,
) -> Snapshot:
    """All of a configuration; groups are found by name and by alias. Without `providers`: those of the targets."""
    by_name = {name: found for found in groups for name in (found.name, *found.aliases)}
    if providers is None:
        used = {member.target.provider for found in by_name.values() for member in found.members}
        providers = map(provider, sorted(used))
    usual = Snapshot(
        config_version=config_version,
        groups=by_name,
        providers={account.name: account for account in providers},
        created_utc=DEFAULT_CREATED_UTC,
    )
    return structs.replace(usual, **overrides)
