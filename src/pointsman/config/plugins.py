"""Strategies of others: found by entry point, made once per configuration, and kept behind a guard."""

import logging
import traceback
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath, nearest
from pointsman.config.schema import ConfigFile, PluginSection
from pointsman.domain.opinion import API_VERSION, Adviser, FallbackReason, Question, StrategyPlugin, Told
from pointsman.domain.ports import Rng
from pointsman.routing.opinions import BadAnswerError, read_answer

log = logging.getLogger(__name__)

STRATEGY = "plugin"
ENTRY_POINTS = "pointsman.strategies"
COMPLAINT_INTERVAL_S = 60.0  # a plugin that always fails does so with every request


class GuardedPlugin:
    """Never raises. Equal to another one of the same code and options, so that a reload keeps it."""

    def __init__(self, section: PluginSection, entry: EntryPoint, plugin: StrategyPlugin) -> None:
        package = entry.dist
        self.name = section.name
        self.origin = entry.value if package is None else f"{entry.value} of {package.name} {package.version}"
        self._options, self._plugin = section.options, plugin
        self._silent_until = 0.0  # monotonic seconds

    def ask(self, question: Question, *, now: float, rng: Rng) -> Told:
        """What the plugin says of the candidates."""
        try:
            answer = self._plugin.scores(question, now=now, rng=rng)
            return read_answer(answer, [candidate.id for candidate in question.candidates])
        except BadAnswerError as error:
            self._complain(f"gave an answer that cannot be used: {error}", now)
            return FallbackReason.BAD_ANSWER
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it is, the request goes on
            self._complain(f"raised {_fault(error)}", now)
            return FallbackReason.RAISED

    def _complain(self, what: str, now: float) -> None:
        if now >= self._silent_until:
            self._silent_until = now + COMPLAINT_INTERVAL_S
            log.error("the plugin %s %s; traffic is shared by weight", self.name, what, extra={"fields": {
                "plugin": self.name, "origin": self.origin, "silent_for_s": COMPLAINT_INTERVAL_S,
            }})  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuardedPlugin) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash((self.name, self.origin))

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.name, self.origin, type(self._plugin), self._options


def load(document: Document, config: ConfigFile) -> dict[str, Adviser]:
    """The plugins of all groups that name one, by group. Notes what is wrong with a plugin."""
    found: dict[str, Adviser] = {}
    for name, group in config.models.items():
        path = "models", name, "plugin"
        if group.strategy == STRATEGY and group.plugin is not None and document.is_whole(path):
            plugin = _loaded(document, path, group.plugin)
            if plugin is not None:
                found[name] = plugin
    return found


def _loaded(document: Document, path: KeyPath, section: PluginSection) -> Adviser | None:
    entry = _entry(document, (*path, "name"), section.name)
    if entry is None:
        return None
    try:
        factory = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others, which may do anything
        _refuse(document, path, entry, f"cannot be imported, it raises {_fault(error)}")
        return None
    version = getattr(factory, "api_version", None)
    if version != API_VERSION:
        told = "it has no `api_version`" if version is None else f"its `api_version` is {version!r:.20}"
        _refuse(document, path, entry, f"is not made for this gateway: {told}, and {API_VERSION} is wanted")
        return None
    try:
        plugin = factory(section.options)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        fix = "The plugin's own documentation says which options it takes."
        document.add((*path, "options"), f"the plugin refuses its options, it raises {_fault(error)}", fix)
        return None
    if not callable(getattr(plugin, "scores", None)):
        _refuse(document, path, entry, "makes something that has no method `scores`")
        return None
    return GuardedPlugin(section, entry, plugin)


def _entry(document: Document, path: KeyPath, name: str) -> EntryPoint | None:
    entries = {(each.value, each.name): each for each in entry_points(group=ENTRY_POINTS)}.values()
    named = [each for each in entries if each.name == name]
    if len(named) == 1:
        return named[0]
    if named:
        values = " and ".join(sorted(each.value for each in named))
        document.add(path, f"two installed packages have a plugin of this name: {values}", "Uninstall one of them.")
        return None
    fix = "Install the package that has it, into the environment of the gateway."
    known = [each.name for each in entries]
    message = f"no installed package has a plugin {document.shown(path, name)}"
    document.add(path, message, nearest(name, known, otherwise=fix if not known else ""))
    return None


def _refuse(document: Document, path: KeyPath, entry: EntryPoint, why: str) -> None:
    fix = f"Mend `{entry.value}`, or name another plugin."
    document.add((*path, "name"), f"the plugin {why}", fix)


def _fault(error: BaseException) -> str:
    """Kind and place of an exception: its text may quote anything."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
