"""Step 1: which group does the name mean?"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from pointsman.domain.ask import Ask
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Caller
from pointsman.domain.target import ModelGroup


def group_for(ask: Ask) -> ModelGroup:
    """The group of the asked name or alias. Raises GatewayError (404) with the nearest names, or (403)."""
    name = ask.facts.model
    group = ask.snapshot.groups.get(name)
    if group is None:
        raise unknown_model(name, names_for(ask.caller, ask.snapshot.groups))
    allowed = ask.caller.groups
    if allowed is not None and group.name not in allowed:
        text = f"This API key may not use the model '{name}'. GET /v1/models lists those it may use."
        raise GatewayError(ErrorKind.PERMISSION_DENIED, text, param="model")
    return group


def names_for(caller: Caller, groups: Mapping[str, ModelGroup]) -> Collection[str]:
    """The names and aliases of the groups that a caller may use."""
    allowed = caller.groups
    return groups if allowed is None else [name for name, group in groups.items() if group.name in allowed]


def unknown_model(name: str, known: Iterable[str]) -> GatewayError:
    """The 404 for a model name nobody configured."""
    near = get_close_matches(name[:200], known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else " GET /v1/models lists the names."
    return GatewayError(ErrorKind.MODEL_NOT_FOUND, f"There is no model '{name[:200]}'.{hint}", param="model")
