"""`GET /api/v1/targets`: every target of the configuration, and how it is doing."""

from collections.abc import Mapping

from msgspec import structs

from pointsman.control.sources import Sources
from pointsman.domain.target import Target
from pointsman.domain.value import Value
from pointsman.routing.explanation import Number, state_of


class Membership(Value):
    """A group that the target belongs to."""

    group: str
    weight: float
    strategy: str


class TargetStatus(Value):
    """One target; what is learned about it is shared by its groups."""

    target: str
    provider: str
    has_credential: bool
    groups: list[Membership]
    state: Mapping[str, Number]
    learned: Mapping[str, Number]  # of its behaviour, whoever asks
    attempts: Mapping[str, int]  # that have ended since the start, by outcome class


def statuses(sources: Sources) -> list[TargetStatus]:
    """In the order of the configuration."""
    groups = {group.name: group for group in sources.snapshot().groups.values()}
    targets: dict[str, Target] = {}
    memberships: dict[str, list[Membership]] = {}
    for group in groups.values():
        for member in group.members:
            key = member.target.state_key
            targets.setdefault(key, member.target)
            membership = Membership(group.name, member.weight, group.policy.strategy)
            memberships.setdefault(key, []).append(membership)
    attempts, now, board = sources.attempts(), sources.clock.now(), sources.board
    return [
        TargetStatus(
            target.id, target.provider, target.has_credential, memberships[key],
            state_of(board.target_view(target, now), board.in_flight(target), now),
            structs.asdict(board.learned(target, now)), attempts.get(target.id, {}),
        )
        for key, target in targets.items()
    ]  # fmt: skip
