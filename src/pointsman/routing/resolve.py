"""Step 1: which group does the name mean?"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from pointsman.domain.ask import Ask
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.preferences import Sort
from pointsman.domain.request import Caller
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import ModelGroup
from pointsman.routing.arrange import sorted_by

SUFFIXES: Mapping[str, Sort] = MappingProxyType({"floor": Sort.PRICE, "nitro": Sort.THROUGHPUT})


def group_for(ask: Ask) -> ModelGroup:
    """The group of the asked name. Raises GatewayError as `find` does."""
    return find(ask.facts.model, ask.caller, ask.snapshot)


def find(name: str, caller: Caller, snapshot: Snapshot) -> ModelGroup:
    """The group that a name or alias means, else a suffix or a single target.

    Raises GatewayError: 404 with the nearest names, or 403.
    """
    group = snapshot.groups.get(name)
    if group is None:
        group = _with_suffix(name, snapshot) or _single_target(name, caller, snapshot)
        if group is None:
            raise unknown_model(name, names_for(caller, snapshot))
    allowed = caller.groups
    if allowed is not None and group.name not in allowed:
        text = f"This API key may not use the model '{name}'. GET /v1/models lists those it may use."
        raise GatewayError(ErrorKind.PERMISSION_DENIED, text, param="model")
    return group


def _with_suffix(name: str, snapshot: Snapshot) -> ModelGroup | None:
    base, _, suffix = name.rpartition(":")
    group, sort = snapshot.groups.get(base), SUFFIXES.get(suffix)
    return None if group is None or sort is None else sorted_by(group, sort)


def _single_target(name: str, caller: Caller, snapshot: Snapshot) -> ModelGroup | None:
    """It passes by groups and their contracts, so the key must name it: a key for everything does not."""
    return snapshot.direct.get(name) if caller.groups is not None and name in caller.groups else None


def names_for(caller: Caller, snapshot: Snapshot) -> Collection[str]:
    """The names and aliases of the groups that a caller may use, and the single targets that its key lists."""
    allowed, groups = caller.groups, snapshot.groups
    if allowed is None:
        return groups
    listed = sorted(allowed.intersection(snapshot.direct))
    return [name for name, group in groups.items() if group.name in allowed] + listed


def unknown_model(name: str, known: Iterable[str]) -> GatewayError:
    """The 404 for a model name nobody configured."""
    near = get_close_matches(name[:200], known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else " GET /v1/models lists the names."
    return GatewayError(ErrorKind.MODEL_NOT_FOUND, f"There is no model '{name[:200]}'.{hint}", param="model")
