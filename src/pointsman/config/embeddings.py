"""Which models make embeddings that can be compared: unlike ones never stand in for each other.

Whoever keeps vectors of two models finds nothing any more, and no error tells.
"""

import re
from collections.abc import Iterator

from pointsman.config.document import Document
from pointsman.config.schema import ConfigFile, GroupEntry, ModelEntry, TargetEntry
from pointsman.config.targets import place_of, same_as, upstream_model

# the word itself, and families whose names do not have it
_NAMES = re.compile(r"embed|(^|[/-])(bge|gte|e5|voyage)-", re.IGNORECASE)


def is_embedding_model(name: str) -> bool:
    """Whether the name of a model, as providers spell it, says that it makes embeddings."""
    return _NAMES.search(name) is not None


def comparable(config: ConfigFile, group: GroupEntry) -> list[bool]:
    """For each target of a group, whether its vectors can be compared with those of the first that takes requests."""
    spaces, first = [_space(config, target) for target in group.targets], space_of(config, group)
    return [group.same_model is True or space is None or space == first for space in spaces]


def space_of(config: ConfigFile, group: GroupEntry) -> str | None:
    """That of the first target that takes requests; None: none does."""
    return next((_space(config, target) for target in group.targets if target.weight != 0), None)


def check(document: Document, config: ConfigFile, name: str) -> None:
    """Note the targets of a group that makes embeddings which cannot stand in for the first one."""
    group, path = config.models[name], ("models", name, "targets")
    if not document.is_whole(path) or not any(_embeds(config, target) for target in group.targets):
        return
    for index, (is_alike, target) in enumerate(zip(comparable(config, group), group.targets, strict=True)):
        if target.weight != 0 and not is_alike:
            message = "its embeddings cannot be compared with those of the first target"
            fix = "Make a group of each model; for one model under two names, give both the same `embedding_space`."
            document.add((*path, index), message, fix)


def _space(config: ConfigFile, target: TargetEntry) -> str | None:
    """As declared, else the identity of the model; None: the target is faulty."""
    for provider, reference in _places(config, target):
        declared = _entry(config, provider, reference).embedding_space
        return same_as(config.providers[provider], reference) if declared is None else declared
    return None


def _embeds(config: ConfigFile, target: TargetEntry) -> bool:
    """Whether a target is known to make embeddings, by what is declared or by the name of its model."""
    return any(
        _entry(config, provider, reference).embedding_space is not None
        or is_embedding_model(upstream_model(config.providers[provider], reference))
        for provider, reference in _places(config, target)
    )


def _places(config: ConfigFile, target: TargetEntry) -> Iterator[tuple[str, str]]:
    """Where a target is; nothing when it is faulty."""
    place = place_of(target)
    if place is not None and place[0] in config.providers:
        yield place


def _entry(config: ConfigFile, provider: str, reference: str) -> ModelEntry:
    return config.providers[provider].models.get(reference) or ModelEntry()
