"""Strategies that ask somebody outside: each needs the section of its name, and nobody else has a use for it."""

from collections.abc import Mapping

from msgspec import structs

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.schema import ConfigFile, ExternalSection, GroupEntry
from pointsman.config.settings import SELF_HOSTED_IDLE_CONNECTION_S
from pointsman.domain.opinion import Adviser
from pointsman.domain.policy import External, Timeouts
from pointsman.domain.target import ModelGroup, Provider

_EXAMPLES = {  # section and strategy have one name
    "plugin": "plugin: {name: NAME}",
    "external": "external: {url: http://127.0.0.1:7000/decide}",
}


def check(document: Document, path: KeyPath, group: GroupEntry) -> None:
    """Note a section that is missing or in vain."""
    for name, example in _EXAMPLES.items():
        is_written = getattr(group, name) is not None
        if group.strategy == name and not is_written:
            document.add((*path, name), f"is missing: the strategy {name} needs it", f"Write for example {example}.")
        elif is_written and group.strategy != name:
            fix = f"Write strategy: {name}, or remove it."
            document.warn((*path, name), f"has no effect: the strategy of this group is not {name}", fix)


def advised(group: ModelGroup, entry: GroupEntry, advisers: Mapping[str, Adviser]) -> ModelGroup:
    """The group with whom it asks, if anybody."""
    plugin, external = advisers.get(group.name), _external(entry)
    if plugin is None and external is None:
        return group
    return structs.replace(group, policy=structs.replace(group.policy, plugin=plugin, external=external))


def _external(entry: GroupEntry) -> External | None:
    section = _asked(entry)
    if section is None:
        return None
    return External(
        authority=section.url.origin.authority,
        timeout_s=section.timeout,
        fails_closed=section.on_error == "fail_closed",
        includes_request=section.include_request,
    )


def services(config: ConfigFile, timeouts: Timeouts) -> dict[str, Provider]:
    """Where the policy services are, by the name of the group that asks."""
    found: dict[str, Provider] = {}
    for name, entry in config.models.items():
        section = _asked(entry)
        if section is not None and entry.enabled:
            url, idle_s = section.url, SELF_HOSTED_IDLE_CONNECTION_S
            path = url.path_prefix or "/"
            found[name] = Provider(name, "policy", url.origin, path, timeouts, idle_connection_s=idle_s)
    return found


def _asked(entry: GroupEntry) -> ExternalSection | None:
    return entry.external if entry.strategy == "external" else None
