"""Strategies of others: how they are found, what is refused at load, and that a guard stands before each."""

import logging
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from pointsman.config.load import Loaded
from pointsman.config.plugins import COMPLAINT_INTERVAL_S
from pointsman.config.problems import Problem
from pointsman.domain.opinion import Adviser, FallbackReason, Told
from pointsman.routing.opinions import question
from pointsman.testing import builders
from tests.packages import install
from tests.unit.config.samples import HEAD, LOCAL, load_text, problem

PLUGIN = """
class Plugin:
    api_version = 1

    def __init__(self, options):
        self.options = options

    def scores(self, question, *, now, rng):
        return {body}
"""


def code(body: str = "{}") -> str:
    return PLUGIN.replace("{body}", body)


def text(plugin: str = ", plugin: {name: ours}", strategy: str = "plugin") -> str:
    targets = "targets: [{model: local/a}, {model: local/b}]"
    return f"{HEAD}{LOCAL}models: {{chat: {{strategy: {strategy}, {targets}{plugin}}}}}\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the test, whose packages are installed one by one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def installed(
    path: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str, *, name: str = "rules", entry: str = "Plugin"
) -> None:
    """Each test has a module of its own name, as modules stay imported."""
    monkeypatch.syspath_prepend(install(path, {"ours": f"{module}:{entry}"}, {module: source}, name=name))


def adviser(loaded: Loaded) -> Adviser:
    found = loaded.snapshot.groups["chat"].policy.plugin
    assert found is not None
    return found


def told(plugin: Adviser, now: float = 0.0) -> Told:
    group = builders.group("chat", "a/m", "b/m", strategy="plugin")
    view = builders.group_view(builders.view(), builders.view())
    asked = question(builders.ask(), group, (0, 1), view, builders.estimates(group))
    return plugin.ask(asked, now=now, rng=Random(1))


def test_plugin_that_a_group_names_is_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_good", code("{'b/m': self.options['best']}"))

    loaded = load_text(path, text(", plugin: {name: ours, options: {best: 3}}"))

    policy = loaded.snapshot.groups["chat"].policy
    assert (policy.strategy, policy.decides, loaded.warnings) == ("plugin", "plugin", ())
    assert told(adviser(loaded)) == {"b/m": 3.0}
    assert loaded.notes[1] == (
        "chat: plugin: `plugin_good:Plugin of rules 1.0` says who serves; if it fails, weights do"
    )


def test_plugin_that_no_group_names_is_not_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_unused", "raise RuntimeError")

    assert load_text(path, text(plugin="", strategy="weighted")).warnings == ()


FAULTS: Mapping[str, tuple[str, str, str]] = {
    "plugin_import": (
        "x = 1\nraise RuntimeError('sk-secret')",
        "name",
        "the plugin cannot be imported, it raises RuntimeError at plugin_import.py:2",
    ),
    "plugin_exit": (
        "raise SystemExit",
        "name",
        "the plugin cannot be imported, it raises SystemExit at plugin_exit.py:1",
    ),
    "plugin_empty": ("", "name", "the plugin cannot be imported, it raises AttributeError at __init__.py:"),
    "plugin_unversioned": (
        "class Plugin: pass",
        "name",
        "the plugin is not made for this gateway: it has no `api_version`, and 1 is wanted",
    ),
    "plugin_newer": (
        "class Plugin:\n    api_version = 2",
        "name",
        "the plugin is not made for this gateway: its `api_version` is 2, and 1 is wanted",
    ),
    "plugin_options": (
        "class Plugin:\n    api_version = 1\n    def __init__(self, options):\n        raise ValueError('sk-secret')",
        "options",
        "the plugin refuses its options, it raises ValueError at plugin_options.py:4",
    ),
    "plugin_scoreless": (
        "class Plugin:\n    api_version = 1\n    def __init__(self, options): pass",
        "name",
        "the plugin makes something that has no method `scores`",
    ),
}


@pytest.mark.parametrize("module", FAULTS)
def test_faulty_plugin_is_a_problem_of_the_file(path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    source, key, message = FAULTS[module]
    installed(path, monkeypatch, module, source)

    found = problem(path, text())

    assert found.path == f"models.chat.plugin.{key}"
    assert found.message.startswith(message)
    assert found.fix
    assert "secret" not in str(found)


def missing(path: Path, name: str) -> Problem:
    return problem(path, text(f", plugin: {{name: {name}}}"))


def test_unknown_plugin_is_a_problem_that_says_what_to_do(path: Path) -> None:
    found = missing(path, "ours")

    assert found.message == "no installed package has a plugin 'ours'"
    assert found.fix == "Install the package that has it, into the environment of the gateway."


def test_typing_error_gets_the_nearest_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_near", code())

    assert missing(path, "outs").fix == "Did you mean 'ours'?"


def test_two_packages_with_one_name_are_a_clash(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_one", code(), name="one")
    installed(path, monkeypatch, "plugin_two", code(), name="two")

    found = missing(path, "ours")

    assert found.message == (
        "two installed packages have a plugin of this name: plugin_one:Plugin and plugin_two:Plugin"
    )


def test_strategy_without_its_section_is_refused(path: Path) -> None:
    found = problem(path, text(plugin=""))

    assert (found.path, found.fix) == ("models.chat.plugin", "Write for example plugin: {name: NAME}.")


def test_section_without_its_strategy_has_no_effect(path: Path) -> None:
    (warning,) = load_text(path, text(strategy="weighted")).warnings

    assert warning.message == "has no effect: the strategy of this group is not plugin"


@pytest.mark.parametrize(
    ("before", "after", "kept"), [("{x: 1}", "{x: 1}", True), ("{x: 1}", "{x: 2}", False), ("{x: 1}", "{}", False)]
)
def test_plugin_equals_itself_after_a_reload_with_equal_options(
    path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, kept: bool
) -> None:
    installed(path, monkeypatch, "plugin_kept", code())

    first, second = (
        adviser(load_text(path, text(f", plugin: {{name: ours, options: {options}}}"))) for options in (before, after)
    )

    assert (first == second) is kept
    assert hash(first) == hash(second)


# --- the guard

NONSENSE = [
    "None", "1.0", "'a/m'", "{'a/m': float('nan')}", "{'a/m': float('inf')}", "{'a/m': -1}", "{'a/m': True}",
    "{'a/m': None}", "{'a/m': 10**400}", "{'c/m': 1}", "{1: 1}", "['c/m']", "['a/m', 'a/m']", "[[]]",
]  # fmt: skip


@pytest.mark.parametrize("body", NONSENSE)
def test_nonsense_is_a_bad_answer(path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    module = f"plugin_nonsense_{NONSENSE.index(body)}"
    installed(path, monkeypatch, module, code(body))

    found = told(adviser(load_text(path, text())))

    assert found in {FallbackReason.BAD_ANSWER, FallbackReason.RAISED}
    assert (found is FallbackReason.RAISED) is (body == "[[]]")  # which no dictionary takes as a name


@pytest.mark.parametrize("body", ["1 / 0", "exit()", "self.scores(question, now=now, rng=rng)"])
def test_exception_is_no_exception_of_the_gateway(path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    installed(path, monkeypatch, f"plugin_raises_{len(body)}", code(body))

    assert told(adviser(load_text(path, text()))) is FallbackReason.RAISED


def test_fault_is_logged_with_its_place_once_a_minute_and_without_its_text(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    installed(path, monkeypatch, "plugin_talks", code("[][question.candidates[0].in_flight]"))
    plugin = adviser(load_text(path, text()))

    with caplog.at_level(logging.ERROR):
        for now in (1.0, 2.0, COMPLAINT_INTERVAL_S, COMPLAINT_INTERVAL_S + 1.0):
            told(plugin, now)

    assert [record.getMessage() for record in caplog.records] == [
        "the plugin ours raised IndexError at plugin_talks.py:9; traffic is shared by weight"
    ] * 2


def test_order_becomes_falling_scores(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_orders", code("['b/m', 'a/m']"))

    assert told(adviser(load_text(path, text()))) == {"b/m": 1.0, "a/m": 0.5}


def test_plugin_gets_time_and_chance_as_arguments(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(path, monkeypatch, "plugin_draws", code("{'a/m': now, 'b/m': rng.random()}"))

    assert told(adviser(load_text(path, text())), now=7.0) == {"a/m": 7.0, "b/m": Random(1).random()}
