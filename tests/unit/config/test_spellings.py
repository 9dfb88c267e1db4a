"""`virtual_models`, and groups that are aliases: other spellings of what `models` says."""

from pathlib import Path

import pytest

from pointsman.config.spellings import MAX_CHAIN
from pointsman.domain.snapshot import Snapshot
from pointsman.testing import keys
from tests.unit.config.samples import HEAD, LOCAL, load_text, marked_line, problem, refused

FILE = HEAD + LOCAL
GROUP = "strategy: round_robin, targets: [{model: local/a}, {model: local/b, weight: 2}]"


def loaded(folder: Path, text: str) -> Snapshot:
    return load_text(folder, FILE + text).snapshot


@pytest.mark.req("G-050", "G-051")
def test_virtual_model_is_the_group_of_its_source(tmp_path: Path) -> None:
    virtual = loaded(tmp_path, f"virtual_models: [{{source: chat, {GROUP}}}]\n").groups["chat"]
    plain = loaded(tmp_path, f"models: {{chat: {{{GROUP}}}}}\n").groups["chat"]

    assert [(m.target.id, m.weight) for m in virtual.members] == [(m.target.id, m.weight) for m in plain.members]
    assert virtual.policy == plain.policy


def test_both_spellings_may_stand_in_one_file(tmp_path: Path) -> None:
    text = f"models: {{one: {{{GROUP}}}}}\nvirtual_models: [{{source: two, {GROUP}}}]\n"

    assert set(loaded(tmp_path, text).groups) == {"one", "two"}


def test_problem_of_a_virtual_model_is_shown_at_its_own_line(tmp_path: Path) -> None:
    text = f"{FILE}virtual_models:\n  - source: chat\n    targets:\n      - model: far/a #!\n"

    found = problem(tmp_path, text)

    assert (found.path, found.line) == ("models.chat.targets[0].model", marked_line(text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("virtual_models: {chat: {}}\n", "virtual_models"),
        ("virtual_models: [chat]\n", "virtual_models[0]"),
        (f"virtual_models: [{{{GROUP}}}]\n", "virtual_models[0]"),
        (f"models: {{chat: {{{GROUP}}}}}\nvirtual_models: [{{source: chat, {GROUP}}}]\n", "virtual_models[0].source"),
    ],
)
def test_virtual_model_that_cannot_be_a_group_is_refused(tmp_path: Path, text: str, path: str) -> None:
    assert path in [found.path for found in refused(tmp_path, FILE + text).problems]


@pytest.mark.req("G-003")
def test_group_whose_only_target_is_a_group_is_an_alias_of_it(tmp_path: Path) -> None:
    more = "fast: {targets: [{model: quick}], aliases: [faster]}, quick: {targets: [{model: talk}]}"

    groups = loaded(tmp_path, f"models: {{chat: {{aliases: [talk], {GROUP}}}, {more}}}\n").groups

    assert {name: group.name for name, group in groups.items()} == dict.fromkeys(
        ("chat", "talk", "fast", "faster", "quick"), "chat"
    )


def test_target_of_a_declared_provider_is_never_an_alias(tmp_path: Path) -> None:
    groups = loaded(tmp_path, f"models: {{local/a: {{{GROUP}}}, chat: {{targets: [{{model: local/a}}]}}}}\n").groups

    assert groups["chat"].name == "chat"


@pytest.mark.case("T93")
@pytest.mark.parametrize("lines", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_circle_of_aliases_is_refused(tmp_path: Path, lines: dict[str, str]) -> None:
    entries = ", ".join(f"{name}: {{targets: [{{model: {to}}}]}}" for name, to in lines.items())

    found = refused(tmp_path, f"{FILE}models: {{{entries}, chat: {{{GROUP}}}}}\n").problems

    assert {each.path for each in found} == {f"models.{name}.targets[0].model" for name in lines}


@pytest.mark.parametrize(("steps", "is_sound"), [(MAX_CHAIN, True), (MAX_CHAIN + 1, False)])
def test_chain_of_aliases_has_a_bound(tmp_path: Path, steps: int, is_sound: bool) -> None:
    entries = ", ".join(f"a{step}: {{targets: [{{model: a{step + 1}}}]}}" for step in range(steps))
    text = f"models: {{{entries}, a{steps}: {{{GROUP}}}}}\n"

    if is_sound:
        assert loaded(tmp_path, text).groups["a0"].name == f"a{steps}"
    else:
        assert problem(tmp_path, FILE + text).path == "models.a0.targets[0].model"


def test_alias_with_settings_of_its_own_is_refused(tmp_path: Path) -> None:
    text = f"models: {{chat: {{{GROUP}}}, fast: {{strategy: failover, targets: [{{model: chat}}]}}}}\n"

    found = problem(tmp_path, FILE + text)

    assert (found.path, found.fix) == ("models.fast.strategy", "Remove it, or write it at 'chat'.")


def test_key_may_name_a_group_by_any_step_of_a_chain(tmp_path: Path) -> None:
    key = keys.declaration("pm_k", models=["fast"])
    auth = f"version: 1\nauth: {{mode: keys, pepper: {keys.PEPPER}, keys: [{key}]}}\n"
    text = f"{auth}{LOCAL}models: {{chat: {{{GROUP}}}, fast: {{targets: [{{model: chat}}]}}}}\n"

    ring = load_text(tmp_path, text).snapshot.keys

    assert ring is not None
    assert next(iter(ring.keys.values())).caller.groups == {"chat"}
