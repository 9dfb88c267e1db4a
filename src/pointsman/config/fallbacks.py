"""Fallbacks between groups: whom a request may turn to, each group once and never in a circle."""

from collections.abc import Iterator, Mapping

from msgspec import structs

from pointsman.config.document import Document
from pointsman.config.problems import nearest
from pointsman.config.schema import ConfigFile, GroupEntry
from pointsman.domain.policy import Fallbacks
from pointsman.domain.target import ModelGroup

_KEYS = {"fallbacks": "any_failure", "context_fallbacks": "context", "policy_fallbacks": "policy"}


def check(document: Document, config: ConfigFile, name: str) -> None:
    """Note names of no group, and circles."""
    owners = _owners(config)
    for key in _KEYS:
        for index, written in enumerate(getattr(config.models[name], key)):
            path = ("models", name, key, index)
            if written not in owners:
                if document.is_whole(("models",)):
                    document.add(path, f"unknown model group {document.shown(path, written)}", nearest(written, owners))
            elif name in (owners[written], *_reached(config, owners, owners[written], key)):
                fix = "Remove it: a request never comes back to a group that has failed."
                document.add(path, "leads back to this group", fix)


def linked(config: ConfigFile, groups: Mapping[str, ModelGroup]) -> dict[str, ModelGroup]:
    """The groups with their fallbacks, and with what the groups behind want to know of a request."""
    owners = _owners(config)
    found = {name: _linked(config, owners, groups, name) for name, group in groups.items() if name == group.name}
    return {name: found[group.name] for name, group in groups.items()}


def _linked(config: ConfigFile, owners: Mapping[str, str], groups: Mapping[str, ModelGroup], name: str) -> ModelGroup:
    group = groups[name]
    lists = {
        field: tuple(other for other in _reached(config, owners, name, key) if other in groups)
        for key, field in _KEYS.items()
    }
    scan = group.policy.scan
    for other in {other for names in lists.values() for other in names}:
        scan = scan.with_more(groups[other].policy.scan)
    return structs.replace(group, policy=structs.replace(group.policy, fallbacks=Fallbacks(**lists), scan=scan))


def _owners(config: ConfigFile) -> dict[str, str]:
    """Names and aliases -> the group they mean."""
    return {name: group for group, entry in config.models.items() for name in (group, *entry.aliases)}


def _reached(config: ConfigFile, owners: Mapping[str, str], start: str, key: str) -> tuple[str, ...]:
    """Every group behind one, its own list first, and behind each of those theirs."""
    reached: dict[str, None] = {}

    def follow(entry: GroupEntry) -> None:
        for other in _known(entry, owners, key):
            if other not in reached:
                reached[other] = None
                follow(config.models[other])

    follow(config.models[start])
    return tuple(reached)


def _known(entry: GroupEntry, owners: Mapping[str, str], key: str) -> Iterator[str]:
    return (owners[name] for name in getattr(entry, key) if name in owners)
