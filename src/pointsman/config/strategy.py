"""Which strategy a group gets, and why."""

from collections.abc import Sequence

from msgspec import Struct

from pointsman.config.schema import GroupEntry

_UNLIKE = "listed order, so that price never chooses between quality levels by accident"


class Choice(Struct, frozen=True):
    """A strategy and the sentence that explains it."""

    strategy: str
    reason: str


def choose(group: GroupEntry, identities: Sequence[str]) -> Choice:
    """The named strategy, or the safe one for the group's targets, whose models are `identities`."""
    if group.strategy is not None:
        return Choice(group.strategy, "the configuration names it")
    if any(target.weight is not None for target in group.targets):
        return Choice("weighted", "no strategy named, and a target has a weight")
    if len(identities) == 1:
        return Choice("failover", "no strategy named, and there is only one target")
    if group.same_model:
        return Choice("weighted", "no strategy named, and the group says that its targets are one model: equal weights")
    if group.same_model is None and len(set(identities)) == 1:
        return Choice("weighted", f"no strategy named, and all targets are the model {identities[0]}: equal weights")
    return Choice("failover", f"no strategy named, and the targets are unlike models: {_UNLIKE}")
