"""Strategies that ask somebody outside: each needs the section of its name, and nobody else has a use for it."""

from collections.abc import Mapping

from msgspec import structs

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.schema import GroupEntry
from pointsman.domain.opinion import Adviser
from pointsman.domain.target import ModelGroup

_EXAMPLES = {"plugin": "plugin: {name: NAME}"}  # section and strategy have one name


def check(document: Document, path: KeyPath, group: GroupEntry) -> None:
    """Note a section that is missing or in vain."""
    for name, example in _EXAMPLES.items():
        is_written = getattr(group, name) is not None
        if group.strategy == name and not is_written:
            document.add((*path, name), f"is missing: the strategy {name} needs it", f"Write for example {example}.")
        elif is_written and group.strategy != name:
            fix = f"Write strategy: {name}, or remove it."
            document.warn((*path, name), f"has no effect: the strategy of this group is not {name}", fix)


def advised(group: ModelGroup, advisers: Mapping[str, Adviser]) -> ModelGroup:
    """The group with its plugin, if it has one."""
    if group.name not in advisers:
        return group
    return structs.replace(group, policy=structs.replace(group.policy, plugin=advisers[group.name]))
