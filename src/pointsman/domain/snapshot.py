"""All groups, targets and policies of one config version; a request keeps the snapshot it began with."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.access import KeyRing
from pointsman.domain.policy import Timeouts
from pointsman.domain.request import Caller, Scope
from pointsman.domain.target import ModelGroup, Provider
from pointsman.domain.value import Value

NO_SERVICES: Mapping[str, Provider] = MappingProxyType({})
NO_GROUPS: Mapping[str, ModelGroup] = MappingProxyType({})


class Snapshot(Value):
    """Immutable and swapped as a whole."""

    config_version: int
    groups: Mapping[str, ModelGroup]  # by exact name and by every alias
    providers: Mapping[str, Provider]
    created_utc: int  # seconds since 1970; `created` of the model list
    timeouts: Timeouts = Timeouts()  # limits of a whole request; those of an attempt are the provider's
    shows_details: bool = True  # of decisions, in response headers, to those who may know
    keys: KeyRing | None = None  # who may call; None: everyone
    services: Mapping[str, Provider] = NO_SERVICES  # policy services, by the name of the group that asks
    direct: Mapping[str, ModelGroup] = NO_GROUPS  # single targets by their ids, for keys that list them

    def tells(self, caller: Caller, *, is_local: bool) -> bool:
        """Whether response headers may say which target served, and why. `is_local`: asked from this machine."""
        return self.shows_details and (is_local or Scope.EXPLAIN in caller.scopes)
