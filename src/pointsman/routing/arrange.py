"""A group as a request wants it to be tried: in an order of its own, instead of by the group's strategy."""

from msgspec import structs

from pointsman.domain.derived import derived
from pointsman.domain.policy import Affinity, Detail
from pointsman.domain.preferences import Preferences, Sort, names
from pointsman.domain.target import Member, ModelGroup
from pointsman.routing.strategies import equipped

IN_ORDER = "failover"
BY_SORT = {Sort.PRICE: "cost", Sort.LATENCY: "latency", Sort.THROUGHPUT: "throughput"}


def arranged(group: ModelGroup, preferences: Preferences) -> ModelGroup:
    """The group itself if there is no such wish. An order comes before a sort; weights count for nothing but 0."""
    if preferences.order:
        return _ordered(group, preferences.order)
    return group if preferences.sort is None else sorted_by(group, preferences.sort)


@derived(maxsize=1024)
def sorted_by(group: ModelGroup, sort: Sort) -> ModelGroup:
    return _with_strategy(group, group.members, BY_SORT[sort])


@derived(maxsize=1024)  # callers choose the order: a flood of them costs their own time only
def _ordered(group: ModelGroup, order: tuple[str, ...]) -> ModelGroup:
    """Those that are named first, as they are named, then the rest as it was. Names of nobody are passed over."""

    def place(member: Member) -> int:
        target = member.target
        return next((i for i, slug in enumerate(order) if names(slug, target.provider, target.id)), len(order))

    return _with_strategy(group, tuple(sorted(group.members, key=place)), IN_ORDER)


def _with_strategy(group: ModelGroup, members: tuple[Member, ...], strategy: str) -> ModelGroup:
    """No session stays anywhere: the request says itself where it wants to go."""
    policy = structs.replace(
        group.policy,
        strategy=strategy,
        strategy_reason="the request asks for it",
        selector=None,
        affinity=Affinity(),
        external=None,
    )
    kept = group.policy.details & {Detail.PREFIX}  # what targets have in their caches is learned of such requests, too
    policy = equipped(policy, [member.target for member in members])
    policy = structs.replace(policy, details=policy.details | kept)
    sizes_text = group.policy.scan.sizes_text or policy.compares_prices
    scan = structs.replace(group.policy.scan, sizes_text=sizes_text, wants_details=bool(policy.details))
    return structs.replace(group, members=members, policy=structs.replace(policy, scan=scan.settled()))
