"""Step 4: which eligible targets can take the request now?"""

from msgspec import Struct

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.view import Breaker, GroupView, TargetView


class Availability(Struct, frozen=True, gc=False):
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
        tuple(index for index in free if view.targets[index].breaker is Breaker.CLOSED),
        tuple(index for index in free if view.targets[index].breaker is Breaker.HALF_OPEN),
        tuple(Excluded(group.members[index].target.id, rule) for index, rule in rules.items() if rule is not None),
    )


def exclusion(member: Member, view: TargetView, tried: frozenset[str]) -> Exclusion | None:
    """The rule that keeps a target from taking the request now, or None."""
    if member.target.id in tried:
        return Exclusion.TRIED
    if view.breaker is Breaker.OPEN:
        return Exclusion.PAUSED
    return Exclusion.PROBING if view.is_probing else None
