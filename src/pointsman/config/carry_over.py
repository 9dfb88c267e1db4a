"""What a reload leaves as it was stays the same object: whatever is kept beside it goes on (R-034)."""

from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct, structs

from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import ModelGroup, Provider

_Part = TypeVar("_Part", ModelGroup, Provider)


def carried_over(new: Snapshot, old: Snapshot) -> Snapshot:
    """The new snapshot with every group and provider that equals the old one of its name replaced by it."""
    providers = {name: _kept(provider, old.providers.get(name)) for name, provider in new.providers.items()}
    services = {name: _kept(service, old.services.get(name)) for name, service in new.services.items()}
    kept = {group.name: _kept(group, old.groups.get(group.name)) for group in new.groups.values()}
    groups = {name: kept[group.name] for name, group in new.groups.items()}
    direct = {name: _kept(group, old.direct.get(name)) for name, group in new.direct.items()}
    return structs.replace(
        new,
        providers=MappingProxyType(providers),
        groups=MappingProxyType(groups),
        services=MappingProxyType(services),
        direct=MappingProxyType(direct),
    )


def is_same(new: Snapshot, old: Snapshot) -> bool:
    """Whether two snapshots, the new one carried over, differ in nothing but their version."""
    return structs.replace(new, config_version=old.config_version) == old


def _kept(new: _Part, old: _Part | None) -> _Part:
    return old if old is not None and _values(old) == _values(new) else new


def _values(item: object) -> object:
    """All that a value consists of, also of one that is equal only to itself."""
    if isinstance(item, Struct):
        return type(item), _values(structs.astuple(item))
    if isinstance(item, tuple):
        return tuple(map(_values, item))
    return item
