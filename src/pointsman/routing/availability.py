"""Step 4: which eligible targets can take the request now?"""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.ports import Rng
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.value import Leaf
from pointsman.domain.view import Breaker, GroupView, Limit, TargetView

RULE_OF_LIMIT: Mapping[Limit, Exclusion] = MappingProxyType(
    {
        Limit.MAX_CONCURRENT: Exclusion.MAX_CONCURRENT,
        Limit.MAX_RPS: Exclusion.MAX_RPS,
        Limit.MAX_TPM: Exclusion.MAX_TPM,
        Limit.PROVIDER: Exclusion.PROVIDER_LIMIT,
    }
)


class Availability(Leaf):
    """Eligible members, told apart; `open` and `recovering` hold indexes of the group's members."""

    open: tuple[int, ...]  # take traffic
    recovering: tuple[int, ...] = ()  # half-open, the probe permit is free
    excluded: tuple[Excluded, ...] = ()


def split(group: ModelGroup, eligible: tuple[int, ...], view: GroupView, tried: frozenset[str]) -> Availability:
    """Who is open, who waits for a probe, and the rule against each of the rest."""
    if view.is_calm and not tried:
        return Availability(eligible)
    rules = {index: exclusion(group.members[index], view.targets[index], tried) for index in eligible}
    free = [index for index, rule in rules.items() if rule is None]
    return Availability(
        tuple(index for index in free if view.targets[index].breaker is not Breaker.HALF_OPEN),
        tuple(index for index in free if view.targets[index].breaker is Breaker.HALF_OPEN),
        tuple(Excluded(group.members[index].target.id, rule) for index, rule in rules.items() if rule is not None),
    )


def exclusion(member: Member, view: TargetView, tried: frozenset[str]) -> Exclusion | None:
    """The rule that keeps a target from taking the request now, or None."""
    if member.target.id in tried:
        return Exclusion.TRIED
    if view.breaker is Breaker.OPEN and not view.is_readmitted:
        return Exclusion.PAUSED
    if view.is_probing:
        return Exclusion.PROBING
    return None if view.limit is None else RULE_OF_LIMIT[view.limit]


def admitted(open_: tuple[int, ...], view: GroupView, rng: Rng, kept: int | None = None) -> tuple[int, ...]:
    """Those that their gates let through, and `kept`; nobody: those with the widest gate."""
    gates = {index: view.targets[index].gate for index in open_}
    through = tuple([index for index, gate in gates.items() if gate >= 1.0 or index == kept or rng.random() < gate])
    widest = max(gates.values())
    return through or tuple([index for index in open_ if gates[index] == widest])
