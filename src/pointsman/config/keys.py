"""The declared keys of callers: what rules they obey, and the key ring they become."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from types import MappingProxyType

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath, nearest
from pointsman.config.schema import ConfigFile, KeyEntry, TargetEntry
from pointsman.config.targets import place_of
from pointsman.config.values import ANY_CHARACTERS, HASH_PREFIX
from pointsman.domain.access import AdminToken, CallerKey, KeyRing
from pointsman.domain.preferences import NO_PREFERENCES, MaxPrice, Preferences
from pointsman.domain.request import Caller, Scope
from pointsman.domain.secret import Secret

_KEYS: KeyPath = ("auth", "keys")
_MADE_BY = "pointsman keys create --name NAME"


def check(document: Document, config: ConfigFile) -> None:
    """Note what is wrong with the keys as a whole."""
    auth = config.auth
    if auth.mode == "none" and auth.keys:
        fix = "Write `mode: keys`, or remove the keys."
        document.add(_KEYS, "with `mode: none` everybody is served, so that the keys protect nothing", fix)
    if auth.mode == "keys" and not auth.keys and document.is_whole(_KEYS):
        fix = f"Run `{_MADE_BY}` and add the line it prints."
        document.warn(_KEYS, "there is no key: nobody can call", fix)
    _check_doubles(document, auth.keys, "name", lambda entry: entry.name)
    _check_doubles(document, auth.keys, "hash", lambda entry: entry.hash)
    if config.models and document.is_whole(("models",)):
        names = [name for group, entry in config.models.items() for name in (group, *entry.aliases)]
        for index, entry in enumerate(auth.keys):
            _check_models(document, (*_KEYS, index, "models"), entry, [*names, *single_targets(config)])


def _check_doubles(document: Document, keys: list[KeyEntry], field: str, value_of: Callable[[KeyEntry], str]) -> None:
    seen: dict[str, int] = {}
    for index, entry in enumerate(keys):
        if (first := seen.setdefault(value_of(entry), index)) != index:
            message = f"the same {field} as keys[{first}]"
            document.add((*_KEYS, index, field), message, "Each key has its own: change or remove one of them.")


def _check_models(document: Document, path: KeyPath, entry: KeyEntry, names: list[str]) -> None:
    for index, pattern in enumerate(entry.models):
        if any(fnmatchcase(name, pattern) for name in names):
            continue
        place = (*path, index)
        shown = document.shown(place, pattern)
        if ANY_CHARACTERS in pattern:
            document.warn(place, f"{shown} fits no model group or alias", "Correct it, unless the group is to come.")
        else:
            document.add(place, f"unknown model {shown}", nearest(pattern, names))


def ring_of(config: ConfigFile, pepper: Secret) -> KeyRing:
    """The keys by their digests."""
    keys: dict[str, CallerKey] = {}
    for entry in config.auth.keys:
        digest = entry.hash.removeprefix(HASH_PREFIX)
        groups = _groups(config, entry.models)
        caller = Caller(entry.name, frozenset(map(Scope, entry.scopes)), groups, _policy(entry))
        keys[digest] = CallerKey(Secret(digest), caller, entry.expires)
    return KeyRing(pepper, MappingProxyType(keys))


def _policy(entry: KeyEntry) -> Preferences | None:
    """Which targets may serve the key; None: any."""
    limits = entry.max_price
    policy = Preferences(
        only=() if entry.providers is None else (tuple(entry.providers),),
        zdr=entry.zdr,
        max_prices=() if limits is None else (MaxPrice(limits.prompt, limits.completion, limits.request),),
    )
    return None if policy == NO_PREFERENCES else policy


def _groups(config: ConfigFile, patterns: list[str]) -> frozenset[str] | None:
    """A group is allowed by its name or any alias, and then by all of them: they are one thing. None: all groups."""
    if ANY_CHARACTERS in patterns:
        return None
    named = frozenset(
        name
        for name, entry in config.models.items()
        if any(fnmatchcase(spelling, pattern) for spelling in (name, *entry.aliases) for pattern in patterns)
    )
    return named | single_targets(config).intersection(patterns)


def single_targets(config: ConfigFile) -> frozenset[str]:
    """What keys list as `provider/model`, where no group or alias has that name."""
    names = {name for group, entry in config.models.items() for name in (group, *entry.aliases)}
    listed = {pattern for entry in config.auth.keys for pattern in entry.models} - names
    return frozenset(name for name in listed if ANY_CHARACTERS not in name and _names_a_target(config, name))


def _names_a_target(config: ConfigFile, name: str) -> bool:
    place = place_of(TargetEntry(model=name))
    return place is not None and place[0] in config.providers


def admin_token_of(config: ConfigFile, pepper: Secret | None) -> AdminToken | None:
    """What opens the admin API; None: no token is declared."""
    written = config.auth.admin_token
    if written is None or pepper is None:  # the second is a problem of its own, noted where it was looked for
        return None
    return AdminToken(pepper, Secret(written.removeprefix(HASH_PREFIX)))
