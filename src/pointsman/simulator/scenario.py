"""Scenario files: those of the package by name, others by path. All problems of a file at once."""

import math
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from msgspec import structs

from pointsman.config.document import Document
from pointsman.config.load import MAX_FILE_BYTES
from pointsman.config.problems import ConfigError, KeyPath, Problem, nearest
from pointsman.config.schema_errors import fitted
from pointsman.config.yaml_tree import parse
from pointsman.simulator.names import ALL, is_taken, known_policies
from pointsman.simulator.plan import Plan, Trace
from pointsman.simulator.pool import DEFAULT_POOL
from pointsman.simulator.profile import Change, Profile
from pointsman.simulator.schema import BehaviourSection, ChangeSection, ScenarioFile, TargetSection
from pointsman.simulator.workload import Bursts, Sessions, Workload

_SUFFIX = ".yaml"
# keys of a file that have their unit in the name of a field
_FIELDS = {"ttft": "ttft_s", "error_after": "error_s", "retry_after": "retry_after_s", "cache_ttl": "cache_ttl_s"}
_BESIDE_BEHAVIOUR = frozenset(("price", "targets", "begin", "end", "every", "times"))


def shipped() -> dict[str, str]:
    """What comes with the package: descriptions by name, in alphabetical order."""
    folder = resources.files("pointsman.simulator") / "scenarios"
    names = sorted(entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))
    return {name: load(name).description for name in names}


def load(name: str) -> Plan:
    """A scenario of the package, or a file if the name has a suffix. Raises ConfigError."""
    if name.endswith((_SUFFIX, ".yml")):
        path = Path(name)
        return read(path.stem, name, _text(path), path.parent)
    folder = resources.files("pointsman.simulator") / "scenarios"
    source = folder / f"{name}{_SUFFIX}"
    if "/" in name or not source.is_file():
        names = [entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir()]
        fix = nearest(name, names) + " A file of your own must end in .yaml."
        raise ConfigError([Problem("", 0, 0, "there is no such scenario", fix, source=name)])
    return read(name, f"{name}{_SUFFIX}", source.read_text(encoding="utf-8"), Path())


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        if len(raw) <= MAX_FILE_BYTES:
            return raw.decode("utf-8-sig")
        message, fix = "the file is larger than 1 MiB", "Name a scenario."
    except UnicodeDecodeError:
        message, fix = "the file is not UTF-8 text", "Save it as UTF-8."
    except OSError as error:
        message, fix = f"cannot read the file: {error.strerror}", "Check its path and permissions."
    raise ConfigError([Problem("", 0, 0, message, fix, source=str(path))])


def read(name: str, source: str, text: str, folder: Path) -> Plan:
    """Check a scenario. A trace's path counts from `folder`."""
    document = Document.of(source, parse(text))
    file = fitted(document, ScenarioFile)
    targets = {**(DEFAULT_POOL if file.pool == "default" else {}), **file.targets}
    _check(document, file, targets)
    document.raise_problems()
    workload, trace = file.workload, None
    if workload.trace is not None:
        trace = Trace(folder / workload.trace, workload.speed)
    return Plan(
        name,
        file.description,
        _workload(file),
        trace,
        {key: _profile(target) for key, target in targets.items()},
        {key: target.price for key, target in targets.items()},
        tuple([change for entry in file.timeline for change in _changes(entry)]),
        file.timeouts.first_content,
        file.timeouts.idle,
        file.attempts,
        file.policies,
        tuple(file.compare),
        file.expect,
    )


def _check(document: Document, file: ScenarioFile, targets: dict[str, TargetSection]) -> None:
    """What the schema cannot say."""
    if not targets:
        document.add(("targets",), "there is no target", "Add some, or write `pool: default`.")
    for number, change in enumerate(file.timeline):
        _check_change(document, ("timeline", number), change, targets)
    _check_policies(document, file)


def _check_change(document: Document, path: KeyPath, change: ChangeSection, targets: dict[str, TargetSection]) -> None:
    for place, name in enumerate(change.targets):
        if name not in targets:
            document.add((*path, "targets", place), f"there is no target '{name}'", nearest(name, targets))
    if change.end is not None and change.end <= (change.begin or 0.0):
        document.add((*path, "end"), "must be later than `begin`", "Write a later time.")
    if change.times > 1 and (change.every is None or change.end is None):
        document.add((*path, "times"), "needs `every` and `end`", "Add `every`, and the `end` of the first time.")


def _check_policies(document: Document, file: ScenarioFile) -> None:
    for name in file.policies:
        if is_taken(name):
            document.add(("policies", name), "there is a policy of that name already", "Choose another name.")
    known = known_policies(file.policies)
    wanted: list[tuple[KeyPath, str]] = [(("compare", number), name) for number, name in enumerate(file.compare)]
    for path, name in (*wanted, (("expect", "policy"), file.expect.policy)):
        if name not in known and (name != ALL or path[0] == "expect"):
            document.add(path, f"there is no policy '{name}'", nearest(name, known))


def _workload(file: ScenarioFile) -> Workload:
    section = file.workload
    bursts = None if section.bursts is None else Bursts(section.bursts.fano, section.bursts.length)
    sessions = section.sessions
    return Workload(
        section.rate,
        section.duration,
        section.lengths,
        bursts,
        None if sessions is None else Sessions(sessions.turns, sessions.think, sessions.grows),
    )


def _changes(entry: ChangeSection) -> Iterator[Change]:
    fields = tuple(_fields(entry).items())
    begin_s, end_s = entry.begin or 0.0, math.inf if entry.end is None else entry.end
    for number in range(entry.times):
        later_s = number * (entry.every or 0.0)
        for target in entry.targets:
            yield Change(begin_s + later_s, end_s + later_s, target, fields)


def _profile(target: TargetSection) -> Profile:
    return structs.replace(Profile(target.ttft, target.tps, target.knee), **_fields(target))


def _fields(section: BehaviourSection) -> dict[str, object]:
    """What is written, by the names of `Profile`."""
    written = section.model_dump(exclude_unset=True, exclude=set(_BESIDE_BEHAVIOUR))
    found = {_FIELDS.get(key, key): value for key, value in written.items() if value is not None}
    if section.error_statuses is not None:
        found["error_statuses"] = tuple([(status, 1.0) for status in section.error_statuses])
    return found
