"""What a reload leaves as it was stays the same object."""

from pathlib import Path

import pytest

from pointsman.config.carry_over import carried_over, is_same
from pointsman.domain.snapshot import Snapshot
from pointsman.testing import keys
from tests.unit.config.samples import HEAD, NAME, load_text

PROVIDERS = """\
providers:
  a: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1', api_key: key-a, headers: {x-team: search}}
  b: {kind: vllm, base_url: 'http://127.0.0.1:8001/v1'}
"""
GROUPS = """\
models:
  chat: {aliases: [talk], strategy: weighted, targets: [{model: a/m, weight: 70}, {model: b/m, weight: 30}]}
  code: {targets: [{model: b/m}]}
"""
TEXT = HEAD + PROVIDERS + GROUPS

OF_A = [
    ("127.0.0.1:8000", "127.0.0.1:9000"),
    ("8000/v1", "8000/v2"),
    ("api_key: key-a", "api_key: key-b"),
    ("api_key: key-a", "timeouts: {idle: 1s}, api_key: key-a"),
    ("api_key: key-a", "terminator: lenient, api_key: key-a"),
    ("x-team: search", "x-team: other"),
]
OF_CHAT = [
    ("weight: 70", "weight: 71"),
    ("[talk]", "[talk, speak]"),
    ("strategy: weighted", "strategy: failover"),
    ("{model: a/m, weight: 70}, {model: b/m, weight: 30}", "{model: b/m, weight: 30}, {model: a/m, weight: 70}"),
    ("{model: a/m,", "{model: a/n,"),
    ("targets: [{model: a/m", "on_all_unavailable: refuse, targets: [{model: a/m"),
    ("weight: 30}]", "weight: 30}, {model: b/other}]"),
]
OF_ALL = [
    ("version: 1\n", "version: 1\ntimeouts: {idle: 1s}\n"),
    ("version: 1\n", "version: 1\ncooldown: {base: 1s}\n"),
    ("version: 1\n", "version: 1\nretry: {budget_base: 1}\n"),
    ("version: 1\n", "version: 1\nserver: {response_headers: minimal}\n"),
    ("version: 1\n", "version: 1\ntimeouts: {total: 1s}\n"),
    ("  code: {", "  more: {targets: [{model: b/m}]}\n  code: {"),
    ("  code: {", "  code: {enabled: false, "),
    ("  b: {", "  c: {kind: vllm, base_url: 'http://127.0.0.1:8002/v1'}\n  b: {"),
]


def snapshot(folder: Path, text: str = TEXT) -> Snapshot:
    return load_text(folder, text).snapshot


def reloaded(folder: Path, change: tuple[str, str]) -> tuple[Snapshot, Snapshot]:
    old = snapshot(folder)
    assert change[0] in TEXT
    return old, carried_over(snapshot(folder, TEXT.replace(change[0], change[1], 1)), old)


@pytest.mark.req("R-034")
def test_equal_file_gives_the_same_providers_and_groups(tmp_path: Path) -> None:
    old = snapshot(tmp_path)

    new = carried_over(snapshot(tmp_path, f"# the same in other words\n{TEXT}"), old)

    assert is_same(new, old)
    assert all(new.providers[name] is provider for name, provider in old.providers.items())
    assert all(new.groups[name] is group for name, group in old.groups.items())


@pytest.mark.bug("J-09")
@pytest.mark.parametrize("change", OF_A, ids=lambda change: change[1])
def test_changed_provider_is_another_one_and_the_rest_stays(tmp_path: Path, change: tuple[str, str]) -> None:
    old, new = reloaded(tmp_path, change)

    assert not is_same(new, old)
    assert new.providers["a"] is not old.providers["a"]
    assert new.providers["b"] is old.providers["b"]
    assert new.groups["code"] is old.groups["code"]


@pytest.mark.req("R-034", "X-09")
@pytest.mark.parametrize("change", OF_CHAT, ids=lambda change: change[1])
def test_changed_group_is_another_one_by_all_its_names_and_the_rest_stays(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    old, new = reloaded(tmp_path, change)

    assert not is_same(new, old)
    assert new.groups["chat"] is not old.groups["chat"]
    assert new.groups["talk"] is new.groups["chat"]
    assert new.groups["code"] is old.groups["code"]
    assert new.providers == old.providers


@pytest.mark.bug("J-03")
@pytest.mark.parametrize("change", OF_ALL, ids=lambda change: change[1])
def test_any_other_change_is_seen_too(tmp_path: Path, change: tuple[str, str]) -> None:
    old, new = reloaded(tmp_path, change)

    assert not is_same(new, old)


def test_group_that_takes_the_name_of_an_alias_is_another_one(tmp_path: Path) -> None:
    old, new = reloaded(tmp_path, ("chat: {aliases: [talk]", "talk: {aliases: [chat]"))

    assert new.groups["talk"] is not old.groups["chat"]
    assert new.groups["talk"].name == "talk"


def test_version_alone_is_no_difference(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, TEXT)
    assert (tmp_path / NAME).exists()

    later = carried_over(loaded.source.load(7).snapshot, loaded.snapshot)

    assert later.config_version == 7
    assert is_same(later, loaded.snapshot)


def test_single_target_that_a_key_lists_stays_the_same_object(tmp_path: Path) -> None:
    key = keys.declaration("pm_k", models=["a/x"])
    text = f"version: 1\nauth: {{mode: keys, pepper: {keys.PEPPER}, keys: [{key}]}}\n"
    old = load_text(tmp_path, text + PROVIDERS + GROUPS).snapshot

    new = carried_over(load_text(tmp_path, text + PROVIDERS + GROUPS.replace("70", "71")).snapshot, old)

    assert new.direct["a/x"] is old.direct["a/x"]
