"""Other ways to write model groups, turned into the one that everything else knows, before anything is checked.

`virtual_models` is a list of groups with their names in `source`. A group whose only target is the name of another
group is an alias of that one, over as many as MAX_CHAIN steps.
"""

from collections.abc import Iterator

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath

MAX_CHAIN = 8  # steps; a longer one is a mistake, or will be one soon

_VIRTUAL = "virtual_models"
_ALIAS_KEYS = frozenset(("targets", "aliases"))  # what a group that is an alias can have


def unify(document: Document) -> None:
    """Rewrite the document; what cannot be understood is a problem of its own, or left for the schema to refuse."""
    if _VIRTUAL in document.data:
        _move_virtual_models(document, document.data.pop(_VIRTUAL))
    models = document.data.get("models")
    if isinstance(models, dict):
        _resolve_aliases(document, models)


def _move_virtual_models(document: Document, entries: object) -> None:
    if not isinstance(entries, list):
        document.add((_VIRTUAL,), "must be a list", "Write one `- {source: NAME, targets: [...]}` per line.")
        return
    models = document.data.setdefault("models", {})
    for index, entry in enumerate(entries):
        path: KeyPath = (_VIRTUAL, index)
        source = entry.get("source") if isinstance(entry, dict) else None
        if not isinstance(source, str) or not isinstance(models, dict):
            document.add(path, "does not say under which name it is asked for", "Add `source: NAME`.")
        elif source in models:
            document.add((*path, "source"), f"there is already a group {document.shown(path, source)}", "Rename one.")
        else:
            models[source] = {key: value for key, value in entry.items() if key != "source"}
            _move_places(document, path, ("models", source))


def _move_places(document: Document, old: KeyPath, new: KeyPath) -> None:
    """Where problems of the group are shown: at the lines that were written."""
    for places in (document.spots, document.origins, document.written):
        moved = {(*new, *path[len(old) :]): place for path, place in places.items() if path[: len(old)] == old}
        places.update(moved)  # type: ignore[arg-type]  # each with its own kind of place


def _resolve_aliases(document: Document, models: dict[str, object]) -> None:
    owners = dict(_names(models))
    leads_to = {name: to for name, entry in models.items() if (to := _only_name(entry, owners, document)) is not None}
    for name in leads_to:
        chain = list(_followed(name, leads_to, owners))
        end, path = chain[-1], ("models", name, "targets", 0, "model")
        if end in leads_to:
            fix = f"Let it end at a group with targets of its own, after {MAX_CHAIN} steps at most."
            document.add(path, "an alias of an alias, in a circle or too long", fix)
        elif extra := _keys_of(models[name]) - _ALIAS_KEYS:
            fix = f"Remove it, or write it at {end!r}."
            document.add(("models", name, min(extra)), "has no effect: this group is an alias of another one", fix)
    for name in leads_to:
        _become_alias(models, name, list(_followed(name, leads_to, owners))[-1])


def _become_alias(models: dict[str, object], name: str, end: str) -> None:
    entry, group = models.pop(name), models.get(end)
    if isinstance(group, dict) and isinstance(entry, dict):
        group["aliases"] = [*(group.get("aliases") or []), name, *(entry.get("aliases") or [])]


def _followed(name: str, leads_to: dict[str, str], owners: dict[str, str]) -> Iterator[str]:
    """The groups behind an alias, one step after the other; the last one leads nowhere, unless they are too many."""
    for _ in range(MAX_CHAIN):
        name = owners[leads_to[name]]
        yield name
        if name not in leads_to:
            return


def _only_name(entry: object, owners: dict[str, str], document: Document) -> str | None:
    """The group that a group's only target is; None: it has targets of its own."""
    targets = entry.get("targets") if isinstance(entry, dict) else None
    if not (isinstance(targets, list) and len(targets) == 1 and _keys_of(targets[0]) == {"model"}):
        return None
    name = targets[0]["model"]
    providers = document.data.get("providers")
    is_target = isinstance(name, str) and isinstance(providers, dict) and name.partition("/")[0] in providers
    return name if isinstance(name, str) and name in owners and not is_target else None


def _names(models: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Every name and alias with the group it is of; names win."""
    for name, entry in models.items():
        aliases = entry.get("aliases") if isinstance(entry, dict) else None
        for alias in aliases if isinstance(aliases, list) else ():
            if isinstance(alias, str):
                yield alias, name
    yield from ((name, name) for name in models)


def _keys_of(entry: object) -> set[str]:
    return set(entry) if isinstance(entry, dict) else set()
